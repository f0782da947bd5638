"""What a check is, and how several are run."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Found:
    """What is wrong, and what is worth telling although it is not."""

    problems: Sequence[str]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is checked."""

    name: str
    holds: str
    """What is true of a project that passes, for `--list`."""
    run: Callable[[Path], list[str] | Found]
    """Given the project's folder, returns what is wrong."""
    write: Callable[[Path], list[str]] | None = None
    """Renews the file that the check compares with; returns what it could not do."""


@dataclass(frozen=True, slots=True)
class Report:
    """What came out of one check."""

    name: str
    problems: Sequence[str]
    notes: Sequence[str]
    seconds: float

    @property
    def line(self) -> str:
        """Say it in one line."""
        verdict = "FAILED" if self.problems else "ok"
        return f"{self.name:<12} {verdict:<6} {self.seconds:6.1f} s"


def run_checks(
    checks: Sequence[Check], root: Path, *, write: bool = False, at_once: int = 2
) -> Iterator[Report]:
    """Run checks, `at_once` of them side by side; yield each report when it is there.

    With `write`, those that compare with a file renew the file instead.
    """
    with ThreadPoolExecutor(at_once) as pool:
        running: list[Future[Report]] = [
            pool.submit(_report, check, root, write=write) for check in checks
        ]
        for done in as_completed(running):
            yield done.result()


def _report(check: Check, root: Path, *, write: bool) -> Report:
    began = time.monotonic()
    act = check.write if write and check.write is not None else check.run
    try:
        found = act(root)
    except Exception as error:  # noqa: BLE001 - one broken check must not hide the others
        found = [f"the check itself broke: {type(error).__name__}: {error}"]
    told = found if isinstance(found, Found) else Found(found)
    return Report(check.name, told.problems, told.notes, time.monotonic() - began)
