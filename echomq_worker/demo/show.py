"""The demonstration from the first worker to the last number."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from echomq_worker.app import EchoMQ
from echomq_worker.demo.audit import Evidence, Summary, audit
from echomq_worker.demo.files import FileFacts, text_of
from echomq_worker.demo.jobs import DemoJobs, declare_jobs
from echomq_worker.demo.ledger import Ledger
from echomq_worker.demo.plan import Plan
from echomq_worker.demo.screen import Screen
from echomq_worker.demo.workers import DemoError, Workers
from echomq_worker.domain.job import JobId
from echomq_worker.domain.limits import BATCH
from echomq_worker.errors import ServerError
from echomq_worker.store import Places, QueueStore, Server

START_TIMEOUT_S = 30.0
SILENCE_S = 45.0
"""So long without any event means that something is stuck."""
LOOK_S = 0.05
AT_ONCE = 16
EVENTS_PER_JOB = 12
SPARE_EVENTS = 10_000


def log_size(files: int) -> int:
    """Return how many events the queue must keep, so that the whole story can be read."""
    return files * EVENTS_PER_JOB + SPARE_EVENTS


@dataclass(slots=True, kw_only=True)
class Show:
    """One demonstration, on a queue of its own.

    Args:
        server: where it happens; its options say `log_size`.
        queue_name: a queue that nobody else uses.
        plan: what to enqueue.
        workers: none of them runs yet.
        crew: how many workers to start.
        kill: whether to kill one of them halfway.
        screen: what is shown meanwhile.
    """

    server: Server
    queue_name: str
    plan: Plan
    workers: Workers
    crew: int
    kill: bool
    screen: Screen

    async def run(self) -> Summary:
        """Run all of it, and clean up.

        Raises:
            DemoError: if a worker does not start, ends by itself, or does nothing.
            ServerError: if the server refuses, or does not answer.
        """
        queue = self.server.queue(self.queue_name)
        ledger = Ledger()
        try:
            await self._start_workers(queue)
            asked = await self._enqueue()
            self.screen.total = len(asked.delays) + 2
            await self._watch(queue, ledger)
            self.screen.finish()
            return audit(await self._evidence(queue, ledger, asked))
        finally:
            self.screen.finish()
            await asyncio.to_thread(self.workers.stop)
            with suppress(ServerError):
                await _clean(queue, ledger)

    async def _start_workers(self, queue: QueueStore) -> None:
        for _ in range(self.crew):
            pid = self.workers.start()
            self.screen.say(f"worker {pid} started (kill -9 it if you like: nothing will be lost)")
        give_up = time.monotonic() + START_TIMEOUT_S
        while (await queue.counts()).workers < self.crew:
            self._replace_killed()
            if time.monotonic() > give_up:
                self._give_up("no worker came up")
            await asyncio.sleep(LOOK_S)

    async def _enqueue(self) -> "Asked":
        app = EchoMQ(backend=Server(self.server.options))
        jobs = declare_jobs(app)
        index = jobs.index.options(queue=self.queue_name)
        calls = [index.call(text_of(errand.path)) for errand in self.plan.errands]
        timed = [
            call.after(errand.delay_ms / 1_000) if errand.delay_ms else call
            for call, errand in zip(calls, self.plan.errands, strict=True)
        ]
        async with app:
            handles = await app.enqueue_many(timed)
            failing = await jobs.failing.options(queue=self.queue_name).enqueue()
            dying = await jobs.dying.options(queue=self.queue_name).enqueue()
        delays = {
            handle.id: errand.delay_ms
            for handle, errand in zip(handles, self.plan.errands, strict=True)
        }
        return Asked(jobs, delays, failing.id, dying.id)

    async def _watch(self, queue: QueueStore, ledger: Ledger) -> None:
        heard = time.monotonic()
        while ledger.over < self.screen.total:
            entries = await queue.log(after=ledger.position, limit=BATCH)
            for event, entry in ledger.read(entries):
                self.screen.happened(event, entry.id)
            self.screen.progress(ledger.over, ledger.events)
            self._replace_killed()
            if self.kill and ledger.over >= self.screen.total // 3:
                self.kill = False
                self.screen.say(f"kill -9 {self.workers.kill()}")
            if entries:
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENCE_S:
                self._give_up(f"nothing has happened for {SILENCE_S:.0f} s")
            if len(entries) < BATCH:
                await asyncio.sleep(LOOK_S)

    def _give_up(self, reason: str) -> NoReturn:
        msg = f"{reason}. {self.workers.last_words()}"
        raise DemoError(msg)

    def _replace_killed(self) -> None:
        for old, new in self.workers.replace_killed():
            self.screen.say(f"worker {old} was killed; worker {new} takes over")

    async def _evidence(self, queue: QueueStore, ledger: Ledger, asked: "Asked") -> Evidence:
        facts = await _kept_facts(queue, asked.jobs, list(asked.delays))
        ledger.read(await queue.log(after=ledger.position, limit=BATCH))
        return Evidence(
            delays=asked.delays,
            failing=asked.failing,
            dying=asked.dying,
            ledger=ledger,
            facts=facts,
            dead=[view.id for view in await queue.dead(AT_ONCE)],
            counts=await queue.counts(),
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """What was enqueued."""

    jobs: DemoJobs
    delays: Mapping[JobId, int]
    failing: JobId
    dying: JobId


async def _kept_facts(
    queue: QueueStore, jobs: DemoJobs, ids: Sequence[JobId]
) -> dict[JobId, FileFacts | None]:
    facts: dict[JobId, FileFacts | None] = {}
    for first in range(0, len(ids), AT_ONCE):
        batch = ids[first : first + AT_ONCE]
        for job_id, kept in zip(
            batch, await asyncio.gather(*map(queue.result, batch)), strict=True
        ):
            if kept is not None:
                facts[job_id] = jobs.index.handler.decode_result(kept.result)
    return facts


async def _clean(queue: QueueStore, ledger: Ledger) -> None:
    while entries := await queue.log(after=ledger.position, limit=BATCH):
        ledger.read(entries)
    for job_id, story in ledger.stories.items():
        if not story.completions:
            await queue.remove(job_id, Places.ANY)
    await queue.forget()
