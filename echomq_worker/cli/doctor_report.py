"""How findings are told: a line each for people, or a JSON object a line."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from enum import StrEnum

import click

from echomq_worker.cli.output import write_json
from echomq_worker.cli.words import count_of
from echomq_worker.domain.finding import Finding, Severity
from echomq_worker.domain.printable import printable
from echomq_worker.domain.redaction import Redactor

_CHECK_WIDTH = 14
_INDENT = " " * 6


class Stage(StrEnum):
    """When something was found."""

    CHECK = "check"
    REPAIR = "repair"
    """What a repair has done, instead of what was found."""
    RECHECK = "recheck"
    """After a repair."""


@dataclass(slots=True)
class Report:
    """Tells findings and counts them.

    Args:
        redactor: hides what must not be shown.
        as_json: write JSON objects.
        would_repair: say what a repair would do.
    """

    redactor: Redactor
    as_json: bool = False
    would_repair: bool = False
    counts: Counter[Severity] = field(default_factory=Counter[Severity])

    def tell(self, findings: list[Finding], stage: Stage = Stage.CHECK) -> None:
        """Write findings to standard output."""
        for finding in findings:
            if stage is not Stage.REPAIR:
                self.counts[finding.severity] += 1
            if self.as_json:
                record = asdict(finding) | {"stage": stage.value}
                write_json({name: self.redactor.value(value) for name, value in record.items()})
            else:
                self._line(finding, stage)

    def forget(self, findings: list[Finding]) -> None:
        """Do not count findings any more: a repair has come between."""
        self.counts.subtract(finding.severity for finding in findings)

    def verdict(self) -> str:
        """Return the counts in words."""
        counts = self.counts
        return (
            f"{counts[Severity.OK]} ok, {count_of(counts[Severity.WARN], 'warning')}, "
            f"{count_of(counts[Severity.FAIL], 'failure')}"
        )

    @property
    def failed(self) -> bool:
        """Whether anything has failed that was not repaired since."""
        return self.counts[Severity.FAIL] > 0

    def _line(self, finding: Finding, stage: Stage) -> None:
        word = "done" if stage is Stage.REPAIR else finding.severity.value
        queue = f"[{finding.queue}] " if finding.queue else ""
        self._say(f"{word:<4}  {finding.check:<{_CHECK_WIDTH}}{queue}{finding.text}")
        if finding.hint and stage is not Stage.REPAIR:
            self._say(f"{_INDENT}hint: {finding.hint}")
        if self.would_repair and finding.repair and stage is Stage.CHECK:
            self._say(f"{_INDENT}would: {finding.repair}")

    def _say(self, text: str) -> None:
        click.echo(printable(self.redactor.text(text)))
