"""The time zones whose clocks change, one for each kind of behaviour."""

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import available_timezones

from echomq_worker.domain.cron.offsets import Stretch, offsets_of
from echomq_worker.zones import find_zone

FIRST, LAST = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (2026, 2028))


def behaviours() -> Iterator[tuple[str, list[tuple[Stretch, Stretch]]]]:
    """Yield zones with what ends and begins at each of their changes in 2026 and 2027."""
    seen: set[tuple[Stretch, ...]] = set()
    for name in sorted(available_timezones() - {"Factory", "localtime"}):
        found = list(offsets_of(find_zone(name)).changes(FIRST, LAST))
        if found and (key := tuple(after for _, after in found)) not in seen:
            seen.add(key)
            yield name, found
