"""Sends what many tasks enqueue at once in one round trip, and asks again safely."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from echomq_worker.domain.job import Admission, NewJob
from echomq_worker.domain.limits import BATCH, BATCH_BYTES
from echomq_worker.errors import (
    InvalidArgumentError,
    ServerError,
    UnavailableError,
    WireVersionError,
)
from echomq_worker.protocol.rows import new_job_operands
from echomq_worker.protocol.scripts import BoundScript, Operand
from echomq_worker.store.calls import Caller
from echomq_worker.store.patience import ask_until
from echomq_worker.store.translate import UnreachableError, translated_errors
from echomq_worker.store.wire import PrivateWire, run_script

_REFUSED = {ord("0"): Admission.DUPLICATE, ord("f"): Admission.FULL}
_NAMED = 3
"""How many ids an error names."""


@dataclass(slots=True)
class _Order:
    """What one task wants to enqueue, and what is known of it so far."""

    jobs: Sequence[NewJob]
    operands: Sequence[Sequence[Operand]]
    """Each job as scripts are given it."""
    answer: asyncio.Future[list[Admission]]
    admissions: dict[int, Admission] = field(default_factory=dict[int, Admission])

    def close(self, error: Exception | None) -> None:
        """Answer: with what became of the jobs if that is known of all, else with the error."""
        if self.answer.done():
            return
        if error is None or len(self.admissions) == len(self.jobs):
            self.answer.set_result([self.admissions[i] for i in range(len(self.jobs))])
        else:
            self.answer.set_exception(self._told_how_far(error))

    def _told_how_far(self, error: Exception) -> Exception:
        # Only errors whose classes are known to be made of one text are made anew.
        match error:
            case WireVersionError():
                return error
            case ServerError():
                unknown = isinstance(error, UnavailableError) and not isinstance(
                    error, UnreachableError
                )
                text = f"{error}{self._unknown() if unknown else ''}{self._far()}"
                told = type(error)(text, ids=[job.id for job in self.jobs])
                told.__cause__ = error
                return told
            case InvalidArgumentError() if self.admissions:
                return type(error)(f"{error}{self._far()}")
            case _:
                return error

    def _far(self) -> str:
        if not self.admissions:
            return ""
        return (
            f". Of {len(self.jobs)} jobs {len(self.admissions)} had gone in before: "
            "ask again with the same ids (`ids` of this error), which changes nothing for them"
        )

    def _unknown(self) -> str:
        left = [job.id for i, job in enumerate(self.jobs) if i not in self.admissions]
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        return (
            f". Whether {', '.join(left[:_NAMED])}{more} went in is not known: ask again with the "
            "same id (`ids` of this error), which changes nothing while it is there"
        )


_Item = tuple[_Order, int]


@dataclass(slots=True, kw_only=True)
class Producer:
    """Enqueues for one queue. One call is in flight; what arrives meanwhile goes together."""

    wire: PrivateWire
    enqueue_script: BoundScript
    schedule_script: BoundScript
    prepare: Callable[[], Awaitable[None]]
    give_up_ms: int
    log_size: int = 0
    caller: Caller = field(default_factory=Caller)
    _waiting: list[_Order] = field(default_factory=list[_Order])
    _task: asyncio.Task[None] | None = None

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Admission]:
        """Admit jobs; return what became of each, in order.

        Raises:
            UnavailableError: the server did not answer in `give_up_ms`: the outcome is unknown, and
                asking again with the same ids is safe.
            InvalidArgumentError: a job cannot be sent as it is. If its number or id is what is
                wrong, jobs of thousands before may have gone in; else nothing was sent.
            ServerError: the server refused.
        """
        if not jobs:
            return []
        order = _Order(
            jobs,
            [new_job_operands(job) for job in jobs],
            asyncio.get_running_loop().create_future(),
        )
        self._waiting.append(order)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send_all())
        return await order.answer

    async def _send_all(self) -> None:
        while self._waiting:
            await self._send_batch(self._take_batch())

    def _take_batch(self) -> list[_Order]:
        batch: list[_Order] = []
        size = 0
        while self._waiting and (not batch or size + len(self._waiting[0].jobs) <= BATCH):
            batch.append(self._waiting.pop(0))
            size += len(batch[-1].jobs)
        return batch

    async def _send_batch(self, batch: list[_Order]) -> None:
        try:
            await self._send(batch)
        except (ValueError, TypeError) as error:
            if len(batch) == 1:
                batch[0].close(error)
                return
            # A refused call wrote nothing. One order's bad job is no reason to refuse the others.
            for order in batch:
                await self._send_batch([order])
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            for order in batch:
                order.close(error)
        else:
            for order in batch:
                order.close(None)

    async def _send(self, batch: list[_Order]) -> None:
        for script, admitted in (
            (self.enqueue_script, Admission.ENQUEUED),
            (self.schedule_script, Admission.SCHEDULED),
        ):
            for part in _parts(batch, due=admitted is Admission.SCHEDULED):
                rest = [operand for order, i in part for operand in order.operands[i]]
                reply = await self._call(script, rest)
                for (order, i), verdict in zip(part, reply, strict=True):
                    order.admissions[i] = admitted if verdict == ord("1") else _REFUSED[verdict]

    async def _call(self, script: BoundScript, rest: list[Operand]) -> bytes:
        number = self.caller.next_number()
        args: dict[str, Operand] = {
            "caller": self.caller.name,
            "call_number": number,
            "log_size": self.log_size,
        }

        async def ask(again: str) -> bytes:
            with translated_errors():
                await self.wire.connect()
            await self.prepare()
            return await run_script(self.wire, script, {**args, "again": again}, rest)

        with self.caller.one_call(number):
            return await ask_until(ask, self.give_up_ms)


def _parts(batch: list[_Order], *, due: bool) -> Iterator[list[_Item]]:
    """Yield what is not answered yet, in parts that one script can take."""
    part: list[_Item] = []
    size = 0
    for order in batch:
        for i, job in enumerate(order.jobs):
            if i in order.admissions or (job.due is not None) != due:
                continue
            if part and (len(part) == BATCH or size + len(job.payload) > BATCH_BYTES):
                yield part
                part, size = [], 0
            part.append((order, i))
            size += len(job.payload)
    if part:
        yield part
