"""Collects findings: each once, and of each check no more than a bounded number."""

from collections import Counter
from dataclasses import dataclass, field

from echomq_worker.domain.finding import Finding, Severity
from echomq_worker.domain.printable import printable

CAP = 1_000
"""So many findings of one check are kept; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFinding(Finding):
    """A finding that a repair can act on."""

    subject: str = ""
    """The job, lane or registration that it is about."""
    lane: str = ""
    """The lane where the job was seen."""
    is_quiet: bool = True
    """Whether a quiet queue must not have it; False for what only says how things stand."""


@dataclass(slots=True)
class Notes:
    """What an audit of one queue has found so far."""

    queue: str
    _kept: dict[tuple[str, str], StateFinding] = field(
        default_factory=dict[tuple[str, str], StateFinding]
    )
    _counted: Counter[str] = field(default_factory=Counter[str])

    def add(  # noqa: PLR0913 - by keyword, and each is a field
        self,
        check: str,
        text: str,
        *,
        key: str,
        severity: Severity = Severity.FAIL,
        hint: str = "",
        invariant: str | None = None,
        repair: str | None = None,
        subject: str = "",
        lane: str = "",
        is_quiet: bool = True,
    ) -> None:
        """Keep a finding, unless the same has been found, or too many of its check."""
        if (check, printable(key)) in self._kept:
            return
        self._counted[check] += 1
        if self._counted[check] > CAP:
            return
        self._kept[check, printable(key)] = StateFinding(
            check=check,
            severity=severity,
            text=printable(text),
            hint=hint or ("run with --repair" if repair else ""),
            queue=self.queue,
            key=printable(key),
            invariant=invariant,
            repair=repair,
            subject=subject,
            lane=lane,
            is_quiet=is_quiet,
        )

    def forget(self, check: str, key: str) -> None:
        """Take back what a later look has explained."""
        if self._kept.pop((check, printable(key)), None):
            self._counted[check] -= 1

    def findings(self) -> list[Finding]:
        """Return them, the worst first; a last one a check says how many were left out."""
        found: list[Finding] = sorted(
            self._kept.values(), key=lambda each: each.severity is not Severity.FAIL
        )
        for check, number in self._counted.items():
            if number > CAP:
                text = f"{number - CAP} more of {check}"
                hint = "repair these first, then look again"
                found.append(
                    Finding(
                        check=check,
                        severity=Severity.FAIL,
                        text=text,
                        hint=hint,
                        queue=self.queue,
                    )
                )
        return found
