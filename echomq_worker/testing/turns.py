"""Who is next among the waiting jobs of a queue in memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

from echomq_worker.testing.rows import Row


@dataclass(slots=True)
class Turns:
    """Hands out as a server does: priorities below 0, lanes and mint order in halves, the rest.

    Lanes take turns, a job each. Their pauses, limits and weights are for a server.
    """

    taken: int = 0
    served: dict[str, int] = field(default_factory=dict[str, int])
    """At which turn each lane was served last."""
    odd: bool = False

    def next(self, waiting: Iterable[Row], limit: int) -> list[Row]:
        """Choose at most `limit` of the waiting jobs, the next ones first."""
        tiers: dict[int, list[Row]] = {-1: [], 0: [], 1: []}
        ranked = sorted(waiting, key=lambda row: row.rank)
        for sign, rows in groupby(ranked, key=lambda row: (row.priority > 0) - (row.priority < 0)):
            tiers[sign] += rows
        chosen = tiers[-1][:limit]
        chosen += self._shared([*tiers[0]], limit - len(chosen))
        return chosen + tiers[1][: limit - len(chosen)]

    def _shared(self, rows: list[Row], wanted: int) -> list[Row]:
        flat = [row for row in rows if row.group is None]
        laned = [row for row in rows if row.group is not None]
        share = self._flat_share(wanted) if flat and laned else wanted if flat else 0
        chosen = self._from_lanes(laned, wanted - share)
        chosen += flat[: wanted - len(chosen)]
        return chosen + self._from_lanes(laned, wanted - len(chosen))

    def _flat_share(self, wanted: int) -> int:
        if wanted % 2 == 0:
            return wanted // 2
        self.odd = not self.odd
        return wanted // 2 + self.odd

    def _from_lanes(self, laned: list[Row], wanted: int) -> list[Row]:
        """Take jobs out of `laned`, from that lane which was served longest ago."""
        chosen: list[Row] = []
        while laned and len(chosen) < wanted:
            row = min(laned, key=lambda each: (self.served.get(each.group or "", 0), each.id))
            laned.remove(row)
            chosen.append(row)
            self.taken += 1
            self.served[row.group or ""] = self.taken
        return chosen
