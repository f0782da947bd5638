"""The schedulers that an application declares in code, beside the handlers that they call."""

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Any, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

from echomq_worker.client.client import Client
from echomq_worker.client.declarations import Declarations
from echomq_worker.client.job import AsyncJob, Job, JobSender, SyncJob
from echomq_worker.client.lanes import Lanes
from echomq_worker.client.limits import Limits
from echomq_worker.client.queues import Queues
from echomq_worker.client.schedulers import Schedulers
from echomq_worker.client.scheduling import (
    Caller,
    CronOptions,
    IntervalOptions,
    RuleOptions,
    SchedulerOptions,
    check_known,
    scheduler_of,
)
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.scheduling.declared import DeclaredScheduler
from echomq_worker.errors import HandlerError

P = ParamSpec("P")
R = TypeVar("R")
J = TypeVar("J", bound=Job[..., Any])


class DeclaredOptions(SchedulerOptions, total=False):
    """What a declaration in code can say besides."""

    name: str | None
    """What the scheduler is called, unique in its queue; the job's name if not given."""
    job: str | None
    """What jobs call a function by that is no job yet; its `__name__` if not given."""


class DeclaredCron(DeclaredOptions, CronOptions, total=False):
    """The options of `@app.cron`."""


class DeclaredInterval(DeclaredOptions, IntervalOptions, total=False):
    """The options of `@app.every`."""


class ScheduleDecorator(Protocol):
    """Declares a scheduler of a job, and returns the job; a plain function becomes one."""

    # A job can be called as well, and a plain function may return a coroutine: the first counts.
    @overload
    def __call__(self, function: J, /) -> J: ...
    @overload
    def __call__(  # pyright: ignore[reportOverlappingOverload]
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> AsyncJob[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> SyncJob[P, R]: ...


class Timetable(Declarations):
    """The part of an application that declares schedulers.

    Args:
        default_queue: the queue of handlers that name none.
        client: gives the application's client, when a job is enqueued.
    """

    def __init__(self, default_queue: str, client: Callable[[], Client]) -> None:
        super().__init__(default_queue, client)
        self._scheduled: dict[tuple[str, str], DeclaredScheduler] = {}

    @property
    def scheduled(self) -> list[DeclaredScheduler]:
        """The schedulers that the code declares, in order; a starting worker puts them in place."""
        return list(self._scheduled.values())

    @cached_property
    def schedulers(self) -> Schedulers:
        """The schedulers on the server: put, look at, pause and remove them."""
        return Schedulers(self._client_of, Caller(self.registry, self.default_queue))

    @cached_property
    def limits(self) -> Limits:
        """What keeps jobs back: rates, caps, and jobs that are stopped for a while."""
        return Limits(self._client_of, self.default_queue)

    @cached_property
    def lanes(self) -> Lanes:
        """The lanes on the server: paused or served, how much of each, and what waits in them."""
        return Lanes(self._client_of, self.default_queue)

    @cached_property
    def queues(self) -> Queues:
        """What is set for queues as a whole, such as the order inside a priority."""
        return Queues(self._client_of, self.default_queue)

    def cron(self, expression: str, /, **options: Unpack[DeclaredCron]) -> ScheduleDecorator:
        """Let a job be made whenever a cron expression says so: `@app.cron("0 9 * * MON-FRI")`.

        Put it above `@app.job(...)`, which stays what it was; several may stand above one job, each
        with a `name` of its own. Above a function that is no job it makes it one. Nothing is sent
        to the server: a worker that serves the queue does that when it starts.

        Args:
            expression: minute, hour, day of month, month, day of week, or six fields with seconds
                first, or such as `@daily`.
            **options: `tz` (UTC) and `dst` (`"cron"`, or `"skip"`) for days on which clocks change;
                `name`, `job`, `queue` and `args`; `start`, `end` and `limit`; `jitter`, `misfire`
                and `overlap`; `revision`; and what every job of it gets: `max_attempts`,
                `keep_result`, `timeout`, `backoff`, `expires`. See `SchedulerOptions`.

        Raises:
            HandlerError: if the queue has a scheduler of that name, or the function cannot be
                registered as a job.
            ArgumentsError: if `args` do not fit the function.
            InvalidArgumentError: if something else cannot be used, such as an expression
                (`CronError`) or a zone (`UnknownZoneError`).
        """
        _check_called("cron", expression, '"0 9 * * MON-FRI"')
        check_known("@app.cron", options, DeclaredCron.__optional_keys__)
        return self._schedule({"cron": expression}, options, CronOptions.__optional_keys__)

    def every(self, period: Duration, /, **options: Unpack[DeclaredInterval]) -> ScheduleDecorator:
        """Let a job be made again and again: `@app.every("15m")`.

        The instants lie on a grid that begins with 1970 (UTC), or with `start`: all versions of the
        code agree on it, and lag does not move it. It is used as `cron` is.

        Args:
            period: the time from one occurrence to the next, from 100 ms.
            **options: `offset`, which shifts the grid; `immediately`, to fire once when the
                scheduler is new; all others are those of `cron`, but for `tz` and `dst`.

        Raises:
            EchoMQError: as `cron`.
        """
        _check_called("every", period, '"15m"')
        check_known("@app.every", options, DeclaredInterval.__optional_keys__)
        return self._schedule({"every": period}, options, IntervalOptions.__optional_keys__)

    def _schedule(
        self,
        rule: RuleOptions,
        options: DeclaredCron | DeclaredInterval,
        of_rule: frozenset[str],
    ) -> ScheduleDecorator:
        given = cast("dict[str, Any]", options)
        timed = cast("RuleOptions", {**rule, **{k: given[k] for k in of_rule if k in given}})
        rest = cast("DeclaredOptions", {k: v for k, v in given.items() if k not in of_rule})

        def declare(function: Callable[..., Any], /) -> Any:  # noqa: ANN401
            job = self._job_of(function, rest)
            call = Caller(self.registry, self.default_queue).call(job, rest.get("args"))
            name = rest.get("name")
            queue, spec = scheduler_of(job.name if name is None else name, call, timed, rest)
            place = f"{job.handler.function.__module__}.{job.handler.function.__qualname__}"
            self._declare(DeclaredScheduler(queue, spec, place))
            return job

        return cast("ScheduleDecorator", declare)

    def _job_of(
        self, function: Callable[..., Any], options: DeclaredOptions
    ) -> JobSender[..., Any]:
        name, queue = options.get("job"), options.get("queue")
        if isinstance(function, JobSender):
            job = cast("JobSender[..., Any]", function)
            if name is not None:
                msg = f"{job.name} is a job already: expected no job={name!r} for its scheduler"
                raise HandlerError(msg)
            if job.handler not in self.registry.handlers():
                msg = f"{job.name} is a job of another application: declare its schedulers there"
                raise HandlerError(msg)
            return job
        if not callable(function):
            msg = f"{function!r:.80} cannot be scheduled: expected a function, or an @app.job"
            raise HandlerError(msg)
        return self.job(name or _name_of(function), queue=queue)(function)

    def _declare(self, declared: DeclaredScheduler) -> None:
        name, key = declared.spec.name, (declared.queue, declared.spec.name)
        if (first := self._scheduled.get(key)) is not None:
            msg = (
                f"queue {declared.queue} has a scheduler {name!r} already, declared at "
                f"{first.place}: give one of them another name, as in name={name + '.2'!r}"
            )
            raise HandlerError(msg)
        self._scheduled[key] = declared


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        msg = f"{function!r:.80} has no name of its own: give its job one, as in job='report.make'"
        raise HandlerError(msg)
    return name


def _check_called(what: str, given: object, example: str) -> None:
    # Without parentheses the decorator would replace the function and declare nothing.
    if callable(given):
        msg = (
            f"@app.{what} is given a function: say when it is to run, as in @app.{what}({example})"
        )
        raise HandlerError(msg)
