"""Handlers that take many jobs at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast, get_args, get_origin

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.batching import MISSING
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.errors import HandlerError, InvalidArgumentError
from echomq_worker.handlers.signature import Signature

LARGEST = 1_000
"""A batch holds so many jobs at most: each is under a lease, and its outcome goes in one call."""


class Batch:
    """Let a handler take many jobs at once: `@app.job("index", batch=Batch(100, wait="1s"))`.

    The handler has one argument, a list; producers enqueue one item at a time. What it returns is
    the verdict on each: None, and all have completed; a list of as many entries, or a dict by
    position, where an exception stands for a job that has failed with it (`Retry`, `Snooze` and
    `Discard` too) and anything else is its result. A job without a verdict is retried. If the
    handler raises, each has failed with that.

    Args:
        size: how many jobs it takes at most, 1 to 1,000. A batch takes one of the worker's slots,
            and gathers in what is free besides: a worker with one slot runs batches of one.
        wait: how long the first one waits for others, such as `"1s"`.
        by_lane: whether all jobs of a batch are of one lane.

    Raises:
        InvalidArgumentError: if a value cannot be used.
    """

    def __init__(self, size: int, *, wait: Duration = "1s", by_lane: bool = False) -> None:
        if type(size) is not int or not 1 <= size <= LARGEST:
            msg = f"the size of a batch is {size!a:.80}: expected a whole number, 1 to {LARGEST}"
            raise InvalidArgumentError(msg)
        self.size = size
        self.wait_ms = max(1, parse_duration_ms(wait))
        self.by_lane = by_lane

    def __repr__(self) -> str:
        return f"<Batch of {self.size}, after {self.wait_ms} ms{' by lane' * self.by_lane}>"


class MissingVerdictError(Exception):
    """A batch handler has said nothing of a job."""


@dataclass(frozen=True, slots=True)
class BatchCall:
    """One call of a handler for many jobs.

    Args:
        function: the handler's function.
        items: the name of its list.
    """

    function: Callable[..., Any]
    items: str

    def together(self, calls: Sequence[partial[Any]]) -> partial[Any]:
        """Return the call for jobs whose own calls are these; all else is as in the first."""
        first: Mapping[str, Any] = calls[0].keywords
        items = [call.keywords[self.items] for call in calls]
        return partial(self.function, **{**first, self.items: items})


def one_of_many(signature: Signature, label: str) -> tuple[Signature, str]:
    """Return the signature of one job of a batch handler, and the name of its list.

    Raises:
        HandlerError: if the handler does not take one list.
    """
    match signature.arguments:
        case (only,) if get_origin(only.annotation) is list:
            (item,) = get_args(only.annotation)
            member = replace(only, annotation=item)
            return replace(signature, arguments=(member,), returns=Any), only.name
        case _:
            msg = f"{label} takes batches: expected one argument with a type such as list[int]"
            raise HandlerError(msg)


def verdicts_of(answer: object, count: int) -> list[object]:
    """Return what a batch handler has said of each job: its result, or an exception.

    Args:
        answer: what the handler has returned.
        count: how many jobs there are.
    """
    if answer is None:
        return [None] * count
    missing = MissingVerdictError(MISSING)
    if isinstance(answer, Mapping):
        by_place = cast("Mapping[object, object]", answer)
        return [by_place.get(place, missing) for place in range(count)]
    if isinstance(answer, list | tuple):
        told = list(cast("Sequence[object]", answer))
        return (told + [missing] * count)[:count]
    bad = MissingVerdictError(
        f"bad verdict: the handler returned {type(answer).__name__}: expected None, a list with an "
        f"entry for each job, or a dict by position"
    )
    return [bad] * count
