"""How a handler wants its jobs to be treated."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Unpack

from echomq_worker.domain.backoff import Backoff, BackoffSpec, Duration, backoff_from
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.domain.limits import ATTEMPTS
from echomq_worker.errors import HandlerError, InvalidArgumentError
from echomq_worker.handlers.batches import Batch
from echomq_worker.handlers.standing import PlaceOptions, Wanted

ErrorTypes = type[BaseException] | Sequence[type[BaseException]]
"""One exception class or several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerOptions:
    """What a handler declares about its jobs; None leaves it to the worker's settings."""

    timeout_ms: int | None = None
    """How long a run may take, in ms; 0 means for ever."""
    max_attempts: int | None = None
    backoff: Backoff | None = None
    bury_on: tuple[type[BaseException], ...] = ()
    """Exceptions after which no further attempt is made."""
    uncounted_on: tuple[type[BaseException], ...] = ()
    """Exceptions that do not use up an attempt."""
    keep_result_ms: int = 0
    """How long a result is kept, in ms; 0 means not at all."""
    wanted: Wanted = field(default_factory=Wanted)
    """Where its jobs stand among the others."""
    batch: Batch | None = None
    """How it takes many jobs at once; None for one at a time."""


def handler_options(  # noqa: PLR0913 - one for each option of the decorator
    *,
    timeout: Duration | None = None,
    max_attempts: int | None = None,
    backoff: BackoffSpec | None = None,
    bury_on: ErrorTypes = (),
    uncounted_on: ErrorTypes = (),
    keep_result: Duration | None = None,
    batch: Batch | None = None,
    **placed: Unpack[PlaceOptions],
) -> HandlerOptions:
    """Turn what a decorator was given into options.

    Args:
        timeout: how long a run may take; 0 means for ever.
        max_attempts: how often a job may be tried, from 1.
        backoff: how long to wait between attempts; see `backoff_from`.
        bury_on: exceptions after which a job is buried at once.
        uncounted_on: exceptions that do not use up an attempt.
        keep_result: how long a result is kept; None or 0 means not at all.
        batch: how it takes many jobs at once.
        **placed: where its jobs stand among the others; see `PlaceOptions`.

    Raises:
        InvalidArgumentError: if a value cannot be used.
        HandlerError: if something that is no exception class is listed.
    """
    return HandlerOptions(
        timeout_ms=None if timeout is None else parse_duration_ms(timeout),
        max_attempts=checked_attempts(max_attempts),
        backoff=None if backoff is None else backoff_from(backoff),
        bury_on=_error_types("bury_on", bury_on),
        uncounted_on=_error_types("uncounted_on", uncounted_on),
        keep_result_ms=0 if keep_result is None else parse_duration_ms(keep_result),
        wanted=Wanted.of(placed),
        batch=batch,
    )


def checked_attempts(max_attempts: int | None) -> int | None:
    """Return the number of attempts if it is one; raise `InvalidArgumentError` otherwise."""
    if max_attempts is None or (type(max_attempts) is int and 1 <= max_attempts <= ATTEMPTS):
        return max_attempts
    msg = f"max_attempts is {max_attempts!r}: expected a whole number, 1 to {ATTEMPTS}"
    raise InvalidArgumentError(msg)


def _error_types(option: str, given: ErrorTypes) -> tuple[type[BaseException], ...]:
    listed = (given,) if isinstance(given, type) else tuple(given)
    for item in listed:
        if not (isinstance(item, type) and issubclass(item, BaseException)):  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = f"{option} lists {item!r}: expected exception classes, such as ValueError"
            raise HandlerError(msg)
    return listed
