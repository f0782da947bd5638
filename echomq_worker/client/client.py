"""Sends calls: checks them, names them, and passes them through the middleware."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from echomq_worker.client.call import Call
from echomq_worker.client.delivery import Delivery
from echomq_worker.client.due import check_times
from echomq_worker.client.handle import JobHandle
from echomq_worker.client.ports import Backends
from echomq_worker.domain.clock import Clock
from echomq_worker.domain.job import Admission, JobId, NewJob
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.domain.size import format_size
from echomq_worker.errors import (
    EchoMQError,
    InvalidArgumentError,
    LaneFullError,
    PayloadTooLargeError,
)
from echomq_worker.handlers import EnqueueMiddleware, Outgoing, Sent, around_send
from echomq_worker.handlers.results import Results

R = TypeVar("R")

_CREATED = frozenset({Admission.ENQUEUED, Admission.SCHEDULED, Admission.KEPT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The producers' side of an application."""

    backends: Backends
    mint: Callable[[], JobId]
    clock: Clock
    max_payload: int
    """The largest payload, in bytes."""
    middleware: Sequence[EnqueueMiddleware] = ()

    async def send(self, calls: Sequence[Call[R]]) -> list[JobHandle[R]]:
        """Enqueue calls; return their handles, in order.

        All of them are checked before the first is sent. Those for one queue go in one round trip
        per thousand; if the server fails in between, some are in and others not.

        Raises:
            InvalidArgumentError: if something is no call, a payload is too large, or an instant
                too far away.
            LaneFullError: if a lane holds its maximum, and refuses some of them; the others are in.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        for call in calls:
            if not isinstance(call, Call):  # pyright: ignore[reportUnnecessaryIsInstance]
                msg = f"{call!r:.80} is no call: expected what job.call(...) returns"
                raise InvalidArgumentError(msg)
        outgoing = [self._outgoing(call) for call in calls]
        minted = {
            item.job.id
            for item, call in zip(outgoing, calls, strict=True)
            if call.options.job_id is None
        }
        delivery = Delivery(backends=self.backends, mint=self.mint, minted=minted)

        async def deliver(jobs: Sequence[Outgoing]) -> Sequence[Sent]:
            self._check(jobs)
            return await delivery.send(jobs)

        sent = await around_send(self.middleware, deliver)(outgoing)
        if len(sent) != len(calls):
            msg = (
                f"the enqueue middleware returned {len(sent)} answers for {len(calls)} jobs: "
                f"expected one for each, in order"
            )
            raise EchoMQError(msg)
        _raise_if_full(calls, sent)
        return [self._handle(call, answer) for call, answer in zip(calls, sent, strict=True)]

    def handle(
        self, job_id: JobId, queue: str, results: Results, *, created: bool = False
    ) -> JobHandle[Any]:
        """Return a handle on a job, which need not exist."""
        return JobHandle(
            id=job_id,
            queue=queue,
            created=created,
            backends=self.backends,
            results=results,
            clock=self.clock,
        )

    def _handle(self, call: Call[R], sent: Sent) -> JobHandle[R]:
        handle = self.handle(sent.id, sent.queue, call.results, created=sent.admission in _CREATED)
        return replace(handle, admission=sent.admission)

    def _outgoing(self, call: Call[R]) -> Outgoing:
        options = call.options
        job = NewJob(
            id=options.job_id or self.mint(),
            payload=call.payload,
            due=call.due,
            name=call.name,
            max_attempts=options.max_attempts,
            keep_result_ms=options.keep_result_ms,
            timeout_ms=options.timeout_ms,
            backoff=options.backoff,
            expires=options.expires,
            priority=options.priority or None,
            group=None if options.lane is None else lane_group(options.lane),
            lane=options.lane,
            unique=call.unique,
            limit_key=call.limit_key,
        )
        return Outgoing(call.queue, job)

    def _check(self, outgoing: Sequence[Outgoing]) -> None:
        now_ms = self.clock.now_ms()
        for item in outgoing:
            check_queue_name(item.queue)
            check_times(item.job, now_ms)
            self.check_payload(item.job.name or item.queue, item.job.payload)

    def check_payload(self, what: str, payload: bytes) -> None:
        """Raise `PayloadTooLargeError` if the payload of `what` is over the limit."""
        if len(payload) > self.max_payload:
            msg = (
                f"{what}: the payload is {format_size(len(payload))}, the limit "
                f"{format_size(self.max_payload)} (ECHOMQ_MAX_PAYLOAD). Store the data elsewhere "
                f"and pass a reference"
            )
            raise PayloadTooLargeError(msg)


def _raise_if_full(calls: Sequence[Call[Any]], sent: Sequence[Sent]) -> None:
    refused = [i for i, answer in enumerate(sent) if answer.admission is Admission.FULL]
    if not refused:
        return
    first = refused[0]
    msg = (
        f"lane {calls[first].options.lane} of queue {sent[first].queue} is full: {len(refused)} of "
        f"{len(sent)} jobs were not enqueued (`ids` of this error). Enqueue them later, or raise "
        f"the maximum with app.lanes.maximum"
    )
    raise LaneFullError(msg, ids=[sent[i].id for i in refused])
