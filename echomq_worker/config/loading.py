"""From flags, environment and files to settings that can be used, or all reasons why not."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from echomq_worker.config.declare import Declaration
from echomq_worker.config.settings import Settings, declarations
from echomq_worker.config.sources import DEFAULT, DERIVED, Given, Source, Sources
from echomq_worker.config.unknown import unknown_variables
from echomq_worker.domain.redaction import redact
from echomq_worker.errors import InvalidArgumentError, SettingsError


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and where they came from."""

    settings: Settings
    sources: Mapping[str, Source]
    """By attribute of `Settings`."""
    warnings: tuple[str, ...] = ()

    def given(self, attribute: str) -> bool:
        """Return whether somebody chose this setting, be it to the value of the default."""
        return self.sources[attribute] not in {DEFAULT, DERIVED}


def load(
    environ: Mapping[str, str],
    flags: Mapping[str, str | None] | None = None,
    env_files: Sequence[str | Path] = (),
    *,
    strict: bool = False,
    origins: Mapping[str, Source] | None = None,
) -> Loaded:
    """Read all settings: a flag wins over the environment, that over env files and defaults.

    Args:
        environ: the process environment.
        flags: texts by attribute of `Settings`; None was not given.
        env_files: files of `NAME=value` lines, the strongest last.
        strict: take unknown `ECHOMQ_` variables for errors, as `ECHOMQ_STRICT` does.
        origins: by attribute, where a value among `flags` came from, if from no flag.

    Raises:
        SettingsError: with every problem at once. None of its texts holds a secret.
    """
    try:
        sources = Sources(environ, flags or {}, [Path(path) for path in env_files], origins or {})
    except InvalidArgumentError as error:
        raise SettingsError([f"env file {error}"]) from None
    reading = _Reading(sources)
    unknown = unknown_variables(sources.names, declarations().values())
    if strict or reading.values.get("strict"):
        reading.problems += unknown
        unknown = []
    return Loaded(reading.settings(unknown), reading.sources(), tuple(unknown))


class _Reading:
    """One pass over all settings, which collects what is wrong instead of stopping."""

    def __init__(self, sources: Sources) -> None:
        self.problems: list[str] = []
        self.values: dict[str, object] = {}
        self._given: dict[str, Source] = {}
        self._failed: list[str] = []
        for attribute, declaration in declarations().items():
            try:
                given = sources.find(attribute, declaration)
                if given is not None:
                    self._take(attribute, declaration, given)
            except InvalidArgumentError as error:
                self._failed.append(declaration.variable)
                self.problems.append(redact(f"{declaration.variable}: {error}"))

    def _take(self, attribute: str, declaration: Declaration, given: Given) -> None:
        self._given[attribute] = given.source
        try:
            self.values[attribute] = declaration.read(given.text)
        except InvalidArgumentError as error:
            where = "" if given.source == Source("env") else f" (from {given.source})"
            msg = f"{error}{where}"
            raise InvalidArgumentError(msg) from None

    def settings(self, warnings: Sequence[str]) -> Settings:
        """Return the settings; raise `SettingsError` with all problems, and the warnings."""
        try:
            settings = Settings(**self.values)  # pyright: ignore[reportArgumentType]
        except SettingsError as error:
            problems = self.problems + self._relevant(error.problems)
            raise SettingsError(problems, warnings) from None
        if self.problems:
            raise SettingsError(self.problems, warnings)
        return settings

    def sources(self) -> dict[str, Source]:
        """Return where each value came from."""
        return {
            attribute: self._given.get(attribute, DERIVED if declaration.derived else DEFAULT)
            for attribute, declaration in declarations().items()
        }

    def _relevant(self, broken: list[str]) -> list[str]:
        # A rule that speaks of a setting which could not be read speaks of its default.
        return [
            sentence
            for sentence in broken
            if not any(re.search(rf"\b{name}\b", sentence) for name in self._failed)
        ]
