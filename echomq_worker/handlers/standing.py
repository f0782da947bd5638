"""Where a job stands among the others: its priority, its lane, and what limits count it under."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.gates import Rate, checked_count, limit_key, parse_rate
from echomq_worker.domain.lanes import check_lane_name
from echomq_worker.domain.priority import checked_priority
from echomq_worker.domain.unique import Conflict, ConflictMode, Unique, conflict_of, wire_key
from echomq_worker.errors import InvalidArgumentError

KeyOf = Callable[..., Any]
"""A function of a job's arguments that returns what it belongs to."""


class Limit:
    """How much of a handler's work may happen: `@app.job("mail", limit=Limit("50/s", burst=10))`.

    The workers that serve the queue put it in place when they start; it holds for all of them
    together. `app.limits` changes it while they run.

    Args:
        rate: how often jobs may start, such as `"50/s"` or `"5/10s"`.
        burst: how many may start at once after a rest; by default what a tenth of a second
            brings, at least 1.
        sliding: whether to count starts in a sliding window instead: never more in any.
        concurrency: how many jobs may be active at once.
        by: a function of the arguments: the limit holds for each value that it returns (a whole
            number, or a text of 1 to 200 visible ASCII characters) apart.

    Raises:
        InvalidArgumentError: if a value cannot be used, or nothing is limited.
    """

    def __init__(
        self,
        rate: str | None = None,
        *,
        burst: int | None = None,
        sliding: bool = False,
        concurrency: int | None = None,
        by: KeyOf | None = None,
    ) -> None:
        if rate is None and concurrency is None:
            msg = "a Limit limits nothing: expected a rate such as '50/s', or concurrency="
            raise InvalidArgumentError(msg)
        if rate is None and (burst is not None or sliding):
            msg = "burst or sliding is given without a rate: expected a rate such as '50/s' first"
            raise InvalidArgumentError(msg)
        if by is not None and not callable(by):
            msg = f"by is {by!a:.80}: expected a function of the arguments"
            raise InvalidArgumentError(msg)
        self.rate: Rate | None = (
            None if rate is None else parse_rate(rate, burst=burst, sliding=sliding)
        )
        self.concurrency = (
            None if concurrency is None else checked_count("concurrency", concurrency)
        )
        self.by = by

    def __repr__(self) -> str:
        parts = [] if self.rate is None else [f"{self.rate}"]
        parts += [] if self.concurrency is None else [f"concurrency {self.concurrency}"]
        return f"<Limit {', '.join(parts)}{' by key' if self.by else ''}>"


class PlaceOptions(TypedDict, total=False):
    """Where a handler wants its jobs to stand among the others."""

    priority: int | None
    """Its jobs' rank among those that wait, -2**20 to 2**20: lower runs first; 0 is mint order."""
    lane: str | KeyOf | None
    """The lane of its jobs, such as a tenant's name, or a function of their arguments."""
    limit: Limit | None
    """How much of it may happen, on all workers together: `Limit("50/s", concurrency=5)`."""
    key: str | KeyOf | None
    """What no two of its jobs may be enqueued under, or a function of their arguments."""
    mode: ConflictMode | Conflict | None
    """What becomes of the later one: `"reject"` (the default), `"replace"`, `"keep-latest"`,
    `debounce("5s", max="1m")` or `throttle("1m")`."""
    release: Duration | None
    """When the key is free again: `"finish"` (the default), `"start"`, or a duration."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a handler declares about where its jobs stand.

    Args:
        priority: the rank of its jobs; lower runs first.
        lane: the lane's name, or a function of the arguments that returns it.
        limit: how much of it may happen.
        key: what no two of its jobs may be enqueued under, or a function of the arguments.
        conflict: what becomes of the later one.
    """

    priority: int | None = None
    lane: str | KeyOf | None = None
    limit: Limit | None = None
    key: str | KeyOf | None = None
    conflict: Conflict | None = None

    @classmethod
    def of(cls, options: PlaceOptions) -> "Wanted":
        """Check what a decorator was given. Raises `InvalidArgumentError`."""
        given: Mapping[str, object] = dict(options)
        priority, lane, limit = given.get("priority"), given.get("lane"), given.get("limit")
        key, mode, release = given.get("key"), given.get("mode"), given.get("release")
        if not isinstance(limit, Limit | None):
            msg = f"limit is {limit!a:.80}: expected a Limit, such as Limit('50/s')"
            raise InvalidArgumentError(msg)
        rank = None if priority is None else checked_priority(priority)
        place: Any = lane if lane is None or callable(lane) else check_lane_name(lane)
        check_one_place(rank, place)
        if key is None and (mode is not None or release is not None):
            msg = "mode or release is given without key: expected the key that they are about"
            raise InvalidArgumentError(msg)
        unique: Any = key
        if key is not None and not callable(key):
            wire_key(key)
        conflict = None if key is None else conflict_of("reject" if mode is None else mode, release)
        return cls(rank, place, limit, unique, conflict)

    def unique_for(
        self, handler: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Unique | None:
        """Return the key of a job; None if it has none. Raises `InvalidArgumentError`."""
        if self.key is None or self.conflict is None:
            return None
        found: object = self.key
        if callable(self.key):
            found = key_of(handler, "key", self.key, args, kwargs)
        return None if found is None else Unique(wire_key(found), self.conflict)

    def lane_for(self, handler: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        """Return the lane of a job; None if it has none. Raises `InvalidArgumentError`."""
        if self.lane is None or isinstance(self.lane, str):
            return self.lane
        found = key_of(handler, "lane", self.lane, args, kwargs)
        return None if found is None else check_lane_name(found)

    def limit_key_for(
        self, handler: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> str | None:
        """Return what a job counts under, `<handler>/<value>`. Raises `InvalidArgumentError`."""
        if self.limit is None or self.limit.by is None:
            return None
        value = key_of(handler, "limit", self.limit.by, args, kwargs)
        return None if value is None else limit_key(handler, value)


def check_one_place(priority: int | None, lane: object) -> None:
    """Raise `InvalidArgumentError` if a job is given both a lane and a priority."""
    if priority and lane is not None:
        msg = (
            "both lane and priority are given: expected one of them; inside a lane jobs run in the "
            "order in which they were made"
        )
        raise InvalidArgumentError(msg)


def key_of(
    handler: str, what: str, function: KeyOf, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> object:
    """Ask a function of the arguments; whatever it raises becomes an `InvalidArgumentError`.

    Args:
        handler: whose job it is, for the message.
        what: what is asked for, for the message.
        function: what was declared.
        args: the arguments without a name.
        kwargs: the arguments by name.
    """
    try:
        return function(*args, **kwargs)
    except Exception as error:
        msg = (
            f"{handler}: its function for the {what} raised {type(error).__name__}: expected it to "
            f"take the arguments of the job and return a text. Nothing was sent"
        )
        raise InvalidArgumentError(msg) from error
