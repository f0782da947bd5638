"""Instants as the wall clock of a zone shows them, with its offset."""

from datetime import UTC, datetime, timedelta, tzinfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def in_zone(at_ms: int, zone: tzinfo) -> datetime:
    """Return an instant (Unix ms) as a datetime of a zone."""
    return (_EPOCH + timedelta(milliseconds=at_ms)).astimezone(zone)


def iso(at_ms: int, zone: tzinfo = UTC) -> str:
    """Write an instant (Unix ms) as ISO 8601 with offset, in a zone: `2027-03-28T03:00:00+02:00`.

    Milliseconds are written only where there are some.
    """
    precise = "milliseconds" if at_ms % 1_000 else "seconds"
    text = in_zone(at_ms, zone).isoformat(timespec=precise)
    return text.removesuffix("+00:00") + "Z" if str(zone) == "UTC" else text
