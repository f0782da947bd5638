"""Instants and waits as they are typed."""

import re
from datetime import datetime

from echomq_worker.domain.backoff import BackoffSpec
from echomq_worker.errors import InvalidArgumentError

_DATE = re.compile(r"\s*[0-9]{4}-?[0-9]{2}")


def instant(option: str, text: str) -> datetime:
    """Read an instant; raise `InvalidArgumentError` naming the option if it is none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        msg = (
            f"{option} {text!r} is no time: expected one such as 2030-01-31T09:00:00+01:00 or "
            f"2030-01-31T08:00:00Z"
        )
        raise InvalidArgumentError(msg) from None


def duration_or_instant(option: str, text: str) -> str | datetime:
    """Read what may be either: an instant if it begins with a date, else a duration, unchecked."""
    return instant(option, text) if _DATE.match(text) else text


def backoff_from_text(text: str) -> BackoffSpec:
    """Read a backoff: one wait, or several after each other, with commas between them."""
    waits = [wait.strip() for wait in text.split(",")]
    return waits if len(waits) > 1 and ":" not in text else text
