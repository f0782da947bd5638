"""Time zones whose clocks change: one for each kind of behaviour, and any that one thinks up."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from io import BytesIO
from struct import pack
from zoneinfo import ZoneInfo, available_timezones

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


def zone_of(rule: str = "", changes: Sequence[tuple[int, int]] = ()) -> ZoneInfo:
    """Return a zone made of a file (RFC 9636).

    Args:
        rule: what holds after the last change, as POSIX writes it in TZ.
        changes: Unix seconds, and the offset from there on in seconds. Before, it is 0.
    """
    none = b"TZif2" + bytes(15) + pack(">6l", 0, 0, 0, 0, 1, 4) + bytes(6) + b"STD\0"
    some = b"TZif2" + bytes(15) + pack(">6l", 0, 0, 0, len(changes), len(changes) + 1, 4)
    some += b"".join(pack(">q", at) for at, _ in changes) + bytes(range(1, len(changes) + 1))
    some += b"".join(pack(">lbb", offset, 0, 0) for offset in (0, *(one for _, one in changes)))
    file = none + some + b"STD\0" + f"\n{rule}\n".encode()
    return ZoneInfo.from_file(BytesIO(file), key=rule)
