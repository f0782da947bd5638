"""What every command needs first: the settings, and later the server that they name."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from echomq_worker.cli.output import say
from echomq_worker.config import Loaded, Settings, load
from echomq_worker.config.env_file import read_env_file
from echomq_worker.config.settings import twins_of
from echomq_worker.config.sources import Source, decided_in_code
from echomq_worker.domain.redaction import Redactor
from echomq_worker.errors import SettingsError


class Session:
    """One run of a command.

    Args:
        flags: what the command line said, by attribute of `Settings`; None was not given.
        env_files: the files named by `--env-file`.
    """

    def __init__(
        self, flags: Mapping[str, str | None] | None = None, env_files: Sequence[str | Path] = ()
    ) -> None:
        self._flags = dict(flags or {})
        self._env_files = [Path(path) for path in env_files]
        self._said: set[str] = set()
        self._origins: dict[str, Source] = {}

    @cached_property
    def loaded(self) -> Loaded:
        """The settings and their sources. Read once; warnings go to standard error.

        Raises:
            SettingsError: with every problem.
        """
        loaded = load(os.environ, self._flags, self._env_files, origins=self._origins)
        for warning in loaded.warnings:
            if warning not in self._said:
                say(f"warning: {warning}")
        self._said.update(loaded.warnings)
        return loaded

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self.loaded.settings

    @property
    def redactor(self) -> Redactor:
        """Hides what the settings say must not be shown."""
        return Redactor(self.settings.redact_keys, self.settings.secrets)

    def problems(self, *, strict: bool) -> tuple[list[str], list[str]]:
        """Return the errors and warnings that reading the settings brings, and say nothing."""
        try:
            loaded = load(os.environ, self._flags, self._env_files, strict=strict)
        except SettingsError as error:
            return error.problems, error.warnings
        return [], list(loaded.warnings)

    def add_flag(self, attribute: str, text: str | None) -> None:
        """Take a value from an argument of the command, before the settings are read."""
        self._flags[attribute] = text
        self._origins[attribute] = Source(attribute.upper())
        self._forget()

    def add_env_file(self, path: Path) -> None:
        """Read a file of settings as well, the weakest of all."""
        self._env_files.insert(0, path)
        self._forget()

    def decide_in_code(self, given: Mapping[str, str]) -> None:
        """Let what an application decides in code count for more than the environment.

        What the command line says still counts for more.
        """
        new = {name: text for name, text in given.items() if not self._flags.get(name)}
        self._flags |= new
        self._origins |= {name: decided_in_code(name) for name in new}
        self._forget()

    def suggest(self, defaults: Mapping[str, str]) -> None:
        """Use other defaults for settings that nobody has given."""
        loaded = self.loaded
        self._flags |= {name: text for name, text in defaults.items() if not loaded.given(name)}
        self._forget()

    def share_env_files(self) -> None:
        """Put the variables of the env files into the environment, for the application to see.

        What the environment has already stays, be it there itself or by a file that holds it.
        """
        for path in reversed(self._env_files):
            for line in reversed(read_env_file(path)):
                if not any(os.environ.get(name) for name in (line.name, *twins_of(line.name))):
                    os.environ[line.name] = line.value

    def _forget(self) -> None:
        vars(self).pop("loaded", None)
