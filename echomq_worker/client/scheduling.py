"""What can be said about a scheduler, in code and by the API, and how it becomes one."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from echomq_worker.client.call import Call, CallOptions, send_options
from echomq_worker.client.job import JobSender
from echomq_worker.client.unbound import call_by_name, check_named
from echomq_worker.domain.backoff import BackoffSpec, Duration
from echomq_worker.domain.job import At
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.domain.scheduling.misfire import Misfire
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.handlers import Registry

if TYPE_CHECKING:
    from echomq_worker.domain.scheduling.spec import SchedulerSpec


class TemplateOptions(TypedDict, total=False):
    """How the jobs of a scheduler are to be treated; what is not given is up to their handler."""

    max_attempts: int | None
    """How often a job may be tried, from 1."""
    keep_result: Duration | None
    """How long its result is kept, such as `"1h"`; 0 means not at all."""
    timeout: Duration | None
    """How long a run may take, such as `"30s"`; 0 means for ever."""
    backoff: BackoffSpec | None
    """How long to wait between attempts: all but a function, which no other process can have."""
    expires: Duration | None
    """A job that has not started so long after it was made is buried as expired."""
    priority: int | None
    """The rank of its jobs among those that wait, -2**20 to 2**20: lower runs first."""
    lane: str | None
    """The lane in which its jobs wait."""


class SchedulerOptions(TemplateOptions, total=False):
    """What can be said about a scheduler besides its rule."""

    args: Mapping[str, Any] | None
    """The arguments of its jobs, by parameter name."""
    queue: str | None
    """Where the scheduler is, and its jobs go; the handler's queue if not given."""
    start: datetime | None
    """Nothing fires before it, and the grid of an interval begins with it. With a time zone."""
    end: datetime | None
    """Nothing fires after it. With a time zone."""
    limit: int | None
    """How many jobs are made at most, from 1."""
    jitter: Duration | None
    """Each occurrence fires up to so much later, so that not all schedulers fire at once."""
    misfire: str | Misfire
    """What becomes of occurrences that nobody fired in time: `"latest"` (the newest is made up
    for), `"none"`, or `"all"`; with options, as `"all(max=5, within=1d)"`."""
    overlap: Literal["allow", "skip", "queue-one"]
    """What to do while the job before still waits or runs: `"allow"` another, `"skip"` this
    occurrence, or `"queue-one"`: keep one back until that job has ended."""
    revision: int
    """Of two versions of the code that run at once, the one of the higher revision decides."""


class CronOptions(TypedDict, total=False):
    """What can be said about a cron expression."""

    tz: str | tzinfo
    """Its time zone, such as `"Europe/Berlin"`; UTC if not given."""
    dst: Literal["cron", "skip"]
    """What happens on days on which clocks change: `"cron"` or `"skip"`."""


class IntervalOptions(TypedDict, total=False):
    """What can be said about an interval."""

    offset: Duration | None
    """Shifts the grid, by less than the interval."""
    immediately: bool
    """Fire once when the scheduler is new, then on the grid."""


class RuleOptions(CronOptions, IntervalOptions, total=False):
    """When a scheduler fires: by a cron expression or at an interval."""

    cron: str | None
    """A cron expression."""
    every: Duration | None
    """The time from one occurrence to the next, from 100 ms."""


TEMPLATE_OPTIONS = TemplateOptions.__optional_keys__
_SAME = ("start", "end", "limit", "jitter", "misfire", "overlap", "revision")


@dataclass(frozen=True, slots=True)
class Caller:
    """Makes the calls of schedulers, as far as their handlers are known here."""

    registry: Registry
    default_queue: str
    """For jobs of handlers that are not known here."""

    def call(self, job: JobSender[..., Any] | str, args: Mapping[str, Any] | None) -> Call[Any]:
        """Return the call that a scheduler makes at each occurrence.

        Args:
            job: a registered function, or the name of a handler that only workers may know.
            args: the arguments, by parameter name.

        Raises:
            ArgumentsError: if the arguments do not fit the handler, as far as it is known here.
            HandlerError: if the name cannot be a handler's.
        """
        given: Mapping[str, Any] = {} if args is None else args
        if isinstance(job, JobSender):
            return job.call(**check_named(job.name, given))
        return call_by_name(self.registry, self.default_queue, job, given, {})


def template_of(call: Call[Any], options: TemplateOptions) -> Template:
    """Return what every job of a scheduler is made of.

    Args:
        call: what is called; options that it carries count where no other is given.
        options: what was decided for this scheduler.

    Raises:
        InvalidArgumentError: if a value cannot be used.
        HandlerError: if JSON cannot carry the result that is to be kept.
    """
    given = {key: value for key, value in options.items() if key in TEMPLATE_OPTIONS}
    decided = call.options.merged(send_options(**cast("CallOptions", given)))
    if decided.job_id is not None:
        msg = (
            f"{call.name}: every job of a scheduler gets an id of its own: expected options "
            f"without job_id"
        )
        raise InvalidArgumentError(msg)
    if isinstance(decided.expires, At):
        msg = (
            f"{call.name}: each job of a scheduler expires so long after it was made: expected "
            f"expires to be a duration such as '10m', not an instant"
        )
        raise InvalidArgumentError(msg)
    if decided.keep_result_ms:
        call.results.check()
    return Template(
        name=call.name,
        payload=call.payload,
        max_attempts=decided.max_attempts,
        keep_result_ms=decided.keep_result_ms,
        timeout_ms=decided.timeout_ms,
        ttl_ms=None if decided.expires is None else decided.expires.delay_ms,
        backoff=decided.backoff,
        priority=decided.priority or None,
        lane=decided.lane,
        limit_key=call.limit_key,
    )


def scheduler_of(
    name: str, call: Call[Any], rule: RuleOptions, options: SchedulerOptions
) -> "tuple[str, SchedulerSpec]":
    """Return the queue of a scheduler, and the scheduler as it was declared.

    Args:
        name: its name.
        call: what it calls at each occurrence.
        rule: when it fires.
        options: all else that was said; the arguments are in the call.

    Raises:
        InvalidArgumentError: if something cannot be used, or does not fit together (`CronError`
            and `UnknownZoneError` are kinds of it).
        HandlerError: if JSON cannot carry the result that is to be kept.
    """
    # Calendars and time zones are loaded by those who have schedulers.
    from echomq_worker.domain.scheduling.spec import scheduler_spec  # noqa: PLC0415

    given: dict[str, Any] = {**rule, **options}
    queue = given.get("queue")
    spec = scheduler_spec(
        name,
        template=template_of(call, cast("TemplateOptions", options)),
        **{key: given[key] for key in (*RuleOptions.__optional_keys__, *_SAME) if key in given},
    )
    return call.queue if queue is None else check_queue_name(queue), spec


def check_known(what: str, given: Collection[str], known: Collection[str]) -> None:
    """Raise `InvalidArgumentError` if `what` is given an option that it does not take."""
    if not (unknown := sorted(set(given) - set(known))):
        return
    msg = f"{what} takes no {unknown[0]}=: expected {', '.join(sorted(known))}"
    if near := get_close_matches(unknown[0], known, 1):
        msg += f". Is {near[0]} meant?"
    raise InvalidArgumentError(msg)
