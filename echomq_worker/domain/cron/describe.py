"""Says in English when an expression fires."""

from echomq_worker.domain.cron.fields import Fields


def describe(fields: Fields) -> str:
    """Return it without the time zone: `at 09:00 on Monday to Friday`."""
    return repr(fields)
