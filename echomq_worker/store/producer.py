"""Sends what many tasks enqueue at once in one round trip, and asks again safely."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from echomq_worker.domain.job import Admission, NewJob
from echomq_worker.errors import EchoMQError, UnavailableError
from echomq_worker.protocol.rows import new_job_operands
from echomq_worker.protocol.scripts import BoundScript, Operand
from echomq_worker.store.calls import Caller
from echomq_worker.store.wire import Wire, run_script

CHUNK = 1_000
"""The most jobs that one script admits."""

_Waiting = tuple[Sequence[NewJob], asyncio.Future[list[Admission]]]


@dataclass(slots=True, kw_only=True)
class Producer:
    """Enqueues for one queue. One call is in flight; what arrives meanwhile goes together."""

    wire: Wire
    enqueue_script: BoundScript
    schedule_script: BoundScript
    prepare: Callable[[], Awaitable[None]]
    give_up_ms: int
    log_size: int = 0
    caller: Caller = field(default_factory=Caller)
    _waiting: list[_Waiting] = field(default_factory=list[_Waiting])
    _task: asyncio.Task[None] | None = None

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Admission]:
        """Admit jobs; return what became of each, in order.

        Raises:
            UnavailableError: the server did not answer in `give_up_ms`: the outcome is unknown, and
                asking again with the same ids is safe.
            ServerError: the server refused.
        """
        if not jobs:
            return []
        answer: asyncio.Future[list[Admission]] = asyncio.get_running_loop().create_future()
        self._waiting.append((jobs, answer))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send_all())
        return await answer

    async def _send_all(self) -> None:
        while self._waiting:
            batch = self._take_batch()
            try:
                admissions = await self._send([job for jobs, _ in batch for job in jobs])
            except Exception as error:  # noqa: BLE001 - whoever waits gets it
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
                continue
            at = 0
            for jobs, answer in batch:
                if not answer.done():
                    answer.set_result(admissions[at : at + len(jobs)])
                at += len(jobs)

    def _take_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        size = 0
        while self._waiting and (not batch or size + len(self._waiting[0][0]) <= CHUNK):
            batch.append(self._waiting.pop(0))
            size += len(batch[-1][0])
        return batch

    async def _send(self, jobs: list[NewJob]) -> list[Admission]:
        verdicts: dict[int, Admission] = {}
        for script, admitted, indexes in (
            (self.enqueue_script, Admission.ENQUEUED, _where(jobs, due=False)),
            (self.schedule_script, Admission.SCHEDULED, _where(jobs, due=True)),
        ):
            for first in range(0, len(indexes), CHUNK):
                part = indexes[first : first + CHUNK]
                reply = await self._call(script, [jobs[i] for i in part])
                for i, verdict in zip(part, reply, strict=True):
                    verdicts[i] = admitted if verdict == ord("1") else Admission.DUPLICATE
        return [verdicts[i] for i in range(len(jobs))]

    async def _call(self, script: BoundScript, jobs: list[NewJob]) -> bytes:
        number = self.caller.next_number()
        args: dict[str, Operand] = {
            "caller": self.caller.name,
            "call_number": number,
            "again": "0",
            "log_size": self.log_size,
        }
        rest: list[Operand] = []
        for job in jobs:
            rest += new_job_operands(job)
        deadline = asyncio.get_running_loop().time() + self.give_up_ms / 1000
        with self.caller.one_call(number):
            wait_s = 0.02
            while True:
                try:
                    await self.prepare()
                    return await run_script(self.wire, script, args, rest)
                except UnavailableError as error:
                    if asyncio.get_running_loop().time() + wait_s > deadline:
                        raise _unknown(error, jobs) from error
                    args["again"] = "1"
                    await asyncio.sleep(wait_s)
                    wait_s = min(wait_s * 2, 1.0)


def _where(jobs: list[NewJob], *, due: bool) -> list[int]:
    return [i for i, job in enumerate(jobs) if (job.due is not None) == due]


def _unknown(error: EchoMQError, jobs: list[NewJob]) -> UnavailableError:
    some = ", ".join(job.id for job in jobs[:3])
    more = f" and {len(jobs) - 3} more" if len(jobs) > 3 else ""  # noqa: PLR2004
    return UnavailableError(
        f"{error}. Whether {some}{more} went in is not known: ask again with the same id, which "
        "changes nothing if it did"
    )
