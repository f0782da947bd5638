"""A call of a handler, to be sent now or with others."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from echomq_worker.client.due import due_at, due_in, expiry
from echomq_worker.domain.backoff import BackoffSpec, Duration, backoff_from, backoff_text
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import Due, JobId
from echomq_worker.domain.lanes import check_lane_name
from echomq_worker.domain.priority import checked_priority
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.domain.unique import Conflict, ConflictMode, Unique, conflict_of, wire_key
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.handlers import Handler
from echomq_worker.handlers.options import checked_attempts
from echomq_worker.handlers.results import Results
from echomq_worker.handlers.standing import Wanted, check_one_place

R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendOptions:
    """What a producer may decide about a job; None leaves it to the handler's declaration."""

    queue: str | None = None
    job_id: JobId | None = None
    """An id chosen by the caller: a second job with it is not admitted."""
    max_attempts: int | None = None
    keep_result_ms: int | None = None
    timeout_ms: int | None = None
    backoff: str | None = None
    """As `backoff_text` writes it."""
    expires: Due | None = None
    priority: int | None = None
    lane: str | None = None
    unique: Unique | None = None

    def merged(self, newer: "SendOptions") -> "SendOptions":
        """Return these options with those that `newer` decides."""
        decided = {
            field.name: value
            for field in fields(newer)
            if (value := getattr(newer, field.name)) is not None
        }
        # A job has a lane or a priority: what is said last counts.
        if newer.lane is not None:
            decided["priority"] = None
        elif newer.priority is not None:
            decided["lane"] = None
        return replace(self, **decided)


class CallOptions(TypedDict, total=False):
    """What a producer may decide about a job, as it is written down."""

    queue: str | None
    """Where to send the job."""
    job_id: str | None
    """An id chosen by the caller (see `app.new_job_id`). A second job with it is not admitted: its
    handle is the first one's, and says `created=False`."""
    max_attempts: int | None
    """How often the job may be tried."""
    keep_result: Duration | None
    """How long its result is kept, such as `"1h"`; 0 means not at all."""
    timeout: Duration | None
    """How long a run may take, such as `"30s"`; 0 means for ever."""
    backoff: BackoffSpec | None
    """How long to wait between attempts; see `backoff_from`. A function cannot go with a job."""
    expires: Duration | datetime | None
    """Until when it is to be started: so long after it is due, or a datetime with a time zone. What
    no worker has started by then is buried unrun."""
    priority: int | None
    """Its rank among those that wait, -2**20 to 2**20: lower runs first."""
    lane: str | None
    """The lane in which it waits, such as a tenant's name; lanes are served in turn."""
    key: str | int | None
    """What no other job of the queue may be enqueued under until this one has ended."""
    mode: ConflictMode | Conflict | None
    """What becomes of it if its key is held: `"reject"` (the default), `"replace"`,
    `"keep-latest"`, `debounce("5s", max="1m")` or `throttle("1m")`."""
    release: Duration | None
    """When its key is free again: `"finish"` (the default), `"start"`, or a duration."""


class TimedOptions(CallOptions, total=False):
    """The same, and when the job is to run: after a delay, or at an instant."""

    delay: Duration | None
    """How long to wait first, such as `"10m"`."""
    at: datetime | None
    """When to run: a datetime with a time zone."""


_NOTHING = Wanted()
OPTIONS = (
    *("queue", "job_id", "max_attempts", "keep_result", "timeout", "backoff", "expires"),
    *("priority", "lane", "key", "mode", "release"),
)
TIMED_OPTIONS = (*OPTIONS, "delay", "at")


def check_options(given: Collection[str], known: Collection[str]) -> None:
    """Raise `InvalidArgumentError` if an option is given that there is not."""
    if not (unknown := sorted(set(given) - set(known))):
        return
    msg = f"unknown option {unknown[0]!r}: expected one of {', '.join(known)}"
    if unknown[0] in TIMED_OPTIONS:
        msg += f". When a job runs is said by enqueue_in and enqueue_at, not by {unknown[0]}="
    elif near := get_close_matches(unknown[0], known, 1):
        msg += f". Is {near[0]} meant?"
    raise InvalidArgumentError(msg)


def send_options(**decided: Unpack[CallOptions]) -> SendOptions:
    """Check what a producer has decided.

    Raises:
        InvalidArgumentError: if there is no such option, or a value cannot be used
            (`InvalidQueueError` and `InvalidIdError` are kinds of it).
    """
    check_options(decided, OPTIONS)
    queue, job_id = decided.get("queue"), decided.get("job_id")
    keep_result, timeout = decided.get("keep_result"), decided.get("timeout")
    backoff, expires = decided.get("backoff"), decided.get("expires")
    priority, lane = decided.get("priority"), decided.get("lane")
    check_one_place(priority, lane)
    return SendOptions(
        queue=None if queue is None else check_queue_name(queue),
        job_id=None if job_id is None else JobId(parse_id(job_id).text),
        max_attempts=checked_attempts(decided.get("max_attempts")),
        keep_result_ms=None if keep_result is None else parse_duration_ms(keep_result),
        timeout_ms=None if timeout is None else parse_duration_ms(timeout),
        backoff=None if backoff is None else backoff_text(backoff_from(backoff)),
        expires=None if expires is None else expiry(expires),
        priority=None if priority is None else checked_priority(priority),
        lane=None if lane is None else check_lane_name(lane),
        unique=_unique(decided.get("key"), decided.get("mode"), decided.get("release")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[R_co]):
    """A call of a handler with checked arguments. Nothing is sent yet.

    Made by `job.call(...)`; sent by `app.enqueue_many`.
    """

    queue: str
    name: str | None
    payload: bytes
    results: Results
    options: SendOptions = SendOptions()
    due: Due | None = None
    limit_key: str | None = None
    """What limits by key count it under."""
    unique: Unique | None = None
    """The key that no other may hold."""

    def after(self, delay: Duration) -> "Call[R_co]":
        """Return this call, to run after a delay, counted from when the server has it.

        Raises:
            InvalidArgumentError: if the delay is no duration, negative, NaN, or over 100 years.
        """
        return replace(self, due=due_in(delay))

    def at(self, when: datetime) -> "Call[R_co]":
        """Return this call, to run at an instant (a datetime with a time zone).

        Raises:
            InvalidArgumentError: if `when` does not say its time zone.
        """
        return replace(self, due=due_at(when))


def placed(
    handler: Handler, decided: SendOptions, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> SendOptions:
    """Return the options with the lane or priority that the handler declares, if none is decided.

    Args:
        handler: whose call it is.
        decided: what the producer has decided.
        args: the arguments without a name.
        kwargs: the arguments by name.

    Raises:
        InvalidArgumentError: if the handler's function for the lane fails.
    """
    wanted = handler.options.wanted
    if decided.lane is not None or decided.priority is not None or wanted == _NOTHING:
        return decided
    lane = wanted.lane_for(handler.label, args, kwargs)
    return decided.merged(SendOptions(priority=wanted.priority, lane=lane))


def _unique(key: object, mode: object, release: object) -> Unique | None:
    if key is None:
        if mode is not None or release is not None:
            msg = "mode or release is given without key: expected the key that they are about"
            raise InvalidArgumentError(msg)
        return None
    return Unique(wire_key(key), conflict_of("reject" if mode is None else mode, release))
