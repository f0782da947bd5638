"""The README's table of what cron rules do on the days on which clocks change, by running them."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

_ZONE = "Europe/Berlin"
_DAYS = (date(2027, 3, 28), date(2027, 10, 31))
_RULES = ("30 2 * * *", "15 1-3 * * *", "0 * * * *", "*/30 * * * *")
_LISTED = 4
"""More runs a day than this are counted, not listed."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def clock_change_table() -> str:
    """Return a line for each rule and policy, and one for an interval."""
    spring, autumn = "28 March 2027: no 02:00 to 03:00", "31 October 2027: 02:00 to 03:00 twice"
    head = [f"| rule, in {_ZONE} | `dst` | {spring} | {autumn} |", "|---|---|---|---|"]
    lines = [_line(rule, dst) for rule in _RULES for dst in ("cron", "skip")]
    return "\n".join([*head, *lines, _interval()])


def _line(expression: str, dst: str) -> str:
    from echomq_worker.domain.cron import cron_rule  # noqa: PLC0415

    rule = cron_rule(expression, tz=_ZONE, dst=dst)
    cells = [_told(_instants(rule.next_ms, day), day) for day in _DAYS]
    return f"| `{expression}` | {dst} | {cells[0]} | {cells[1]} |"


def _interval() -> str:
    from echomq_worker.domain.scheduling.rule import every_rule  # noqa: PLC0415

    rule = every_rule("1h")
    cells = [_told(_instants(rule.next_ms, day), day) for day in _DAYS]
    return f'| `every="1h"` |  | {cells[0]} | {cells[1]} |'


def _instants(next_ms: Callable[[int], int | None], day: date) -> list[datetime]:
    zone = ZoneInfo(_ZONE)
    first, last = (
        datetime(each.year, each.month, each.day, tzinfo=zone) - _EPOCH
        for each in (day, day + timedelta(days=1))
    )
    found: list[datetime] = []
    instant = next_ms(first // timedelta(milliseconds=1) - 1)
    while instant is not None and instant < last // timedelta(milliseconds=1):
        found.append((_EPOCH + timedelta(milliseconds=instant)).astimezone(zone))
        instant = next_ms(instant)
    return found


def _told(instants: list[datetime], day: date) -> str:
    if not instants:
        return "does not run"
    if len(instants) > _LISTED:
        return f"{len(instants)} times"
    return ", ".join(_clock(instant, day) for instant in instants)


def _clock(instant: datetime, day: date) -> str:
    text = f"{instant:%H:%M}"
    again = instant.replace(fold=1 - instant.fold).utcoffset() != instant.utcoffset()
    if not again or day == _DAYS[0]:
        return text
    return f"{text} ({'second' if instant.fold else 'first'} time)"
