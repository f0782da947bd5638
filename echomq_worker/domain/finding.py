"""What a check has found: one line for people, and enough for a program."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding of one check."""

    check: str
    """The stable name of the check, such as `orphan-row`."""
    severity: Severity
    text: str
    """What was found: one printable line, without secrets."""
    hint: str = ""
    """What to do about it."""
    queue: str | None = None
    key: str | None = None
    invariant: str | None = None
    """The invariant that it breaks, such as `I6`."""
    repair: str | None = None
    """What a repair would do, in words; None if nothing can be done by us."""
