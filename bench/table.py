"""How results are printed."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure."""

    what: str
    measured: float
    unit: str
    at_most: float | None = None
    """What is wanted; None if nothing is."""

    @property
    def verdict(self) -> str:
        """Say whether the figure is what is wanted."""
        if self.at_most is None:
            return ""
        return "ok" if self.measured <= self.at_most else "MISSED"


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Print rows in columns."""
    cells = [
        (
            row.what,
            f"{row.measured:,.2f} {row.unit}",
            "" if row.at_most is None else f"at most {row.at_most:g} {row.unit}",
            row.verdict,
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(4)]
    print(f"\n{title}")
    for what, measured, wanted, verdict in cells:
        left = f"  {what:<{widths[0]}}  {measured:>{widths[1]}}"
        print(f"{left}  {wanted:<{widths[2]}}  {verdict}".rstrip())
