"""Says in English when an expression fires."""

from itertools import product

from echomq_worker.domain.cron.fields import (
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    WEEKDAY,
    Field,
    Fields,
    Item,
    Span,
    values,
)
from echomq_worker.domain.cron.wording import (
    counted,
    has_all,
    joined,
    ordinal,
    shown,
    special,
    step_of,
)

_MOST_TIMES = 4


def describe(fields: Fields) -> str:
    """Return it without the time zone: `at 09:00 on Monday to Friday`."""
    times = _fixed_times(fields)
    when = times or _recurring(fields)
    months = "" if has_all(MONTH, fields.month) else joined(shown(MONTH, fields.month))
    all_days, all_weekdays = has_all(DAY, fields.day), has_all(WEEKDAY, fields.weekday)
    if (all_days or all_weekdays) and not fields.needs_both_days:
        all_days = all_weekdays = True
    if all_days and all_weekdays:
        return f"{when}{' every day' if times else ''}{f' in {months}' if months else ''}"
    if all_days:
        days, unit = _weekdays(fields.weekday, "and"), f" in {months}"
    elif all_weekdays:
        days, unit = f"{_days_of_month(fields.day)} of the month", f" of {months}"
    else:
        days, unit = _both(fields), f", only in {months}"
    if months:
        days = days.removesuffix(" of the month") + unit
    return f"{when} on {days}"


def _fixed_times(fields: Fields) -> str:
    """Return `at 09:00 and 17:30`, or nothing if there are too many times for that."""
    seconds, minutes = values(SECOND, fields.second), values(MINUTE, fields.minute)
    hours = values(HOUR, fields.hour)
    if fields.follows_real_time or len(seconds) * len(minutes) * len(hours) > _MOST_TIMES:
        return ""
    tail = "" if seconds == [0] else ":{:02}"
    times = product(hours, minutes, seconds)
    return "at " + joined([("{:02}:{:02}" + tail).format(*time) for time in times])


def _recurring(fields: Fields) -> str:
    if values(SECOND, fields.second) != [0]:
        lead = _of(_leading(SECOND, fields.second), MINUTE, fields.minute)
        return _of(lead, HOUR, fields.hour)
    minutes, hours = values(MINUTE, fields.minute), fields.hour
    span = hours[0] if len(hours) == 1 and hours[0].step == 1 else None
    if len(minutes) == 1:
        step = step_of(HOUR, hours)
        if minutes == [0] and step:
            return _every(HOUR, step)
        if span and not step:
            return (
                f"every hour from {span.start:02}:{minutes[0]:02} to {span.stop:02}:{minutes[0]:02}"
            )
    lead = _leading(MINUTE, fields.minute)
    if span and lead.startswith("every") and not has_all(HOUR, hours):
        return f"{lead} from {span.start:02}:00 to {span.stop:02}:59"
    return _of(lead, HOUR, hours)


def _of(lead: str, field: Field, items: tuple[Span, ...]) -> str:
    """Add the next larger unit, unless that says no more than was said."""
    step = step_of(field, items)
    if step is None:
        return f"{lead} of {counted(field, items)}"
    if step > 1:
        return f"{lead} of every {ordinal(step)} {field.title}"
    return lead if "every" in lead else f"{lead} of every {field.title}"


def _leading(field: Field, items: tuple[Span, ...]) -> str:
    step = step_of(field, items)
    return _every(field, step) if step else f"at {counted(field, items)}"


def _every(field: Field, step: int) -> str:
    return f"every {field.title}" if step == 1 else f"every {step} {field.title}s"


def _both(fields: Fields) -> str:
    days, weekdays = _days_of_month(fields.day), _weekdays(fields.weekday, "or")
    return f"{days} of the month {'if it is' if fields.needs_both_days else 'or on'} {weekdays}"


def _days_of_month(items: tuple[Item, ...]) -> str:
    spans = tuple(item for item in items if isinstance(item, Span))
    words = [special(item) for item in items if not isinstance(item, Span)]
    if len(spans) == 1 and spans[0].star and len(values(DAY, spans)) > 1:
        words.insert(0, f"every {ordinal(spans[0].step)} day from day 1")
    elif spans:
        words.insert(0, counted(DAY, spans))
    return joined(words)


def _weekdays(items: tuple[Item, ...], last: str) -> str:
    spans = tuple(item for item in items if isinstance(item, Span))
    words = [special(item) for item in items if not isinstance(item, Span)]
    tail = " of the month" if words else ""
    return joined([*(shown(WEEKDAY, spans) if spans else ()), *words], last) + tail
