"""The schedulers on the server, for code that makes them while it runs: `app.schedulers`."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Unpack, cast

from echomq_worker.client.handle import JobHandle
from echomq_worker.client.job import JobSender
from echomq_worker.client.repeats import Repeats
from echomq_worker.client.scheduler_ports import SchedulerStore
from echomq_worker.client.scheduling import (
    RuleOptions,
    SchedulerOptions,
    check_known,
    scheduler_of,
)
from echomq_worker.domain.job import Admission
from echomq_worker.errors import (
    CorruptSchedulerError,
    DuplicateJobError,
    InvalidArgumentError,
    UnknownSchedulerError,
)
from echomq_worker.handlers.results import ANY_RESULT, Results

if TYPE_CHECKING:
    from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerView
    from echomq_worker.domain.scheduling.spec import SchedulerSpec

log = logging.getLogger(__name__)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_MS = 366 * 86_400_000
"""So far ahead clock changes are told about."""
_TRIES = 5
"""How often another id is minted for a job that is made now, should one be taken."""


class PutOptions(SchedulerOptions, RuleOptions, total=False):
    """What `app.schedulers.put` can be told."""


class Schedulers(Repeats):
    """The schedulers on the server, one queue's at a time.

    Schedulers of `@app.cron` and `@app.every` are among them, as soon as a worker has started that
    serves their queue. Where no queue is given, the application's default queue is meant.

    Args:
        client: gives the application's client.
        caller: makes the calls of schedulers.
    """

    async def put(
        self, name: str, job: JobSender[..., Any] | str, /, **options: Unpack[PutOptions]
    ) -> "PutVerdict":
        """Create a scheduler, or replace the one of that name in the queue.

        `await app.schedulers.put("digest:7", send, cron="0 9 * * *", args={"user": 7})`. Putting
        the same again changes nothing; another rule changes when it fires next, and nothing else.
        What is put here stays until code that declares the same name changes, or its revision.

        Args:
            name: 1 to 200 visible ASCII characters.
            job: a registered function, or the name of a handler.
            **options: `cron` with `tz` and `dst`, or `every` with `offset` and `immediately`; and
                all that `@app.cron` takes. The revision is that of the stored one, if not given.

        Returns:
            What became of it: `created`, `unchanged`, `changed`, or `retimed` if it fires at
            another time now.

        Raises:
            InvalidArgumentError: if something cannot be used, or a scheduler of a higher revision
                is stored.
            ArgumentsError: if the arguments do not fit the handler, as far as it is known here.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        check_known("app.schedulers.put", options, PutOptions.__optional_keys__)
        call = self._caller.call(job, options.get("args"))
        self._client().check_payload(call.name or name, call.payload)
        queue, spec = scheduler_of(name, call, cast("RuleOptions", options), options)
        store = (await self._queue(queue)).schedulers
        if "revision" not in options and (stored := await store.get(name)) is not None:
            spec = replace(spec, revision=stored.revision)
        verdict = await _put(store, spec, queue)
        _warn_of_clock_changes(spec, await store.now_ms())
        return verdict

    async def get(self, name: str, /, *, queue: str | None = None) -> "SchedulerView | None":
        """Return a scheduler with all that is known of it; None if there is none of that name.

        Raises:
            InvalidQueueError: if the queue's name cannot be used.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        return await (await self._queue(queue)).schedulers.get(name)

    async def list(
        self, *, queue: str | None = None, limit: int = 100, offset: int = 0
    ) -> "Sequence[SchedulerView]":
        """Return schedulers of a queue: those that fire first come first, the paused ones last.

        Args:
            queue: the queue.
            limit: how many, 1 to 1,000.
            offset: how many to leave out first.

        Raises:
            InvalidArgumentError: if a number or the queue's name cannot be used.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        _check_number("limit", limit, 1)
        _check_number("offset", offset, 0)
        return await (await self._queue(queue)).schedulers.list(limit, offset)

    async def pause(
        self, name: str, /, *, queue: str | None = None, reason: str = "", by: str = ""
    ) -> None:
        """Let a scheduler make no more jobs until it is resumed; what it has made goes on.

        Args:
            name: the scheduler.
            queue: its queue.
            reason: why, for those who wonder later.
            by: who pauses it.

        Raises:
            UnknownSchedulerError: if there is none of that name.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        store = (await self._queue(queue)).schedulers
        if not await store.pause(name, reason=reason, by=by):
            raise UnknownSchedulerError(_unknown(name, self._named(queue)))

    async def resume(self, name: str, /, *, queue: str | None = None) -> None:
        """Let a paused scheduler make jobs again, from its next occurrence on.

        What would have been due meanwhile is not made up for.

        Raises:
            UnknownSchedulerError: if there is none of that name.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        store = (await self._queue(queue)).schedulers
        if not await store.resume(name):
            raise UnknownSchedulerError(_unknown(name, self._named(queue)))

    async def remove(self, name: str, /, *, queue: str | None = None) -> bool:
        """Remove a scheduler, with its history; the jobs that it has made go on.

        One that the code declares is put in place again by the next worker that starts.

        Returns:
            Whether there was one.

        Raises:
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        return await (await self._queue(queue)).schedulers.remove(name)

    async def trigger(self, name: str, /, *, queue: str | None = None) -> JobHandle[Any]:
        """Make a job of a scheduler now, also of one that is paused; its occurrences stay.

        Returns:
            A handle on the job.

        Raises:
            UnknownSchedulerError: if there is none of that name.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        client, where = self._client(), self._named(queue)
        view = await self._view(name, where)
        store = (await self._queue(where)).schedulers
        for _ in range(_TRIES):
            job_id = client.mint()
            admission = await store.trigger(name, job_id)
            if admission is None:
                break
            if admission is not Admission.DUPLICATE:
                return client.handle(job_id, where, self._results(view), created=True)
        else:
            msg = f"scheduler {name}: each of {_TRIES} ids that were minted is taken: ask again"
            raise DuplicateJobError(msg)
        raise UnknownSchedulerError(_unknown(name, where))

    async def upcoming(
        self, name: str, n: int = 10, /, *, queue: str | None = None
    ) -> "Sequence[datetime]":
        """Return the next `n` occurrences, in the scheduler's time zone, without their jitter.

        A paused scheduler tells what would come if it were resumed now; one that has ended has
        none. The first may be past, if it is due and no worker has fired it yet.

        Raises:
            UnknownSchedulerError: if there is none of that name.
            CorruptSchedulerError: if what is stored of it cannot be read.
            InvalidArgumentError: if `n` is no whole number from 1.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        from echomq_worker.domain.scheduling.foreseen import foreseen, zone_of  # noqa: PLC0415

        _check_number("n", n, 1)
        where = self._named(queue)
        view = await self._view(name, where)
        if view.spec is None:
            msg = f"scheduler {name} in queue {where} cannot be read: {view.problem}"
            raise CorruptSchedulerError(msg)
        zone = zone_of(view.spec.rule)
        now_ms = await (await self._queue(where)).schedulers.now_ms()
        instants = foreseen(view, n, now_ms=now_ms)
        return [(_EPOCH + timedelta(milliseconds=each)).astimezone(zone) for each in instants]

    async def _view(self, name: str, queue: str) -> "SchedulerView":
        view = await (await self._queue(queue)).schedulers.get(name)
        if view is None:
            raise UnknownSchedulerError(_unknown(name, queue))
        return view

    def _results(self, view: "SchedulerView") -> Results:
        name = None if view.spec is None else view.spec.template.name
        registry = self._caller.registry
        return registry.named(name).results if name in registry.names() else ANY_RESULT


async def _put(store: SchedulerStore, spec: "SchedulerSpec", queue: str) -> "PutVerdict":
    # Calendars and time zones are loaded by those who have schedulers.
    from echomq_worker.domain.scheduling.firing import zone_data_of  # noqa: PLC0415
    from echomq_worker.domain.scheduling.records import PutVerdict  # noqa: PLC0415
    from echomq_worker.zones import zone_data_version  # noqa: PLC0415

    data = zone_data_of(spec, zone_data_version())
    verdict = await store.put(spec, force=True, source="api", tz=data)
    if verdict is PutVerdict.OLDER:
        msg = (
            f"scheduler {spec.name} in queue {queue} is stored with a higher revision than "
            f"{spec.revision}: expected revision= of that one or above, or none"
        )
        raise InvalidArgumentError(msg)
    return verdict


def _warn_of_clock_changes(spec: "SchedulerSpec", now_ms: int) -> None:
    from echomq_worker.domain.cron import CronRule, clock_changes  # noqa: PLC0415

    if isinstance(spec.rule, CronRule):
        changes = clock_changes(spec.rule, after_ms=now_ms, until_ms=now_ms + _YEAR_MS)
        for change in changes[:1]:
            log.warning("scheduler %s: %s", spec.name, change.text)


def _check_number(what: str, number: int, least: int) -> None:
    if type(number) is not int or number < least:
        msg = f"{what} is {number!r}: expected a whole number from {least}"
        raise InvalidArgumentError(msg)


def _unknown(name: str, queue: str) -> str:
    return f"there is no scheduler {name!r} in queue {queue}: app.schedulers.list() shows them"
