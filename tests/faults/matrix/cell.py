"""One cell of the matrix: a job at a moment, and all that belongs to it."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from echomq_worker.domain.job import After, At, JobId, NewJob
from echomq_worker.domain.scheduling.records import SchedulerView
from echomq_worker.domain.scheduling.spec import scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.protocol.scripts import script
from echomq_worker.store import QueueStore
from tests.faults.matrix.forks import Fork
from tests.faults.matrix.gate import Gate
from tests.faults.matrix.moments import Moment
from tests.support.jobs import job_id
from tests.support.look import Look
from tests.support.stores import no_trouble

SCHEDULER = "tick"
FIRES_MS = 200
"""When its scheduler fires, from the declaration."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONG_S = 3.0
"""Longer than a worker has that is told to stop at once."""


@dataclass(kw_only=True)
class Cell:
    """A job at a moment, with a queue, a gate and a worker of its own."""

    name: str
    moment: Moment
    code: str
    number: int
    queue: QueueStore
    look: Look
    gate: Gate
    others: list[JobId] = field(default_factory=list[JobId])
    """Jobs of the same queue that nothing particular happens to."""
    worker: Fork | None = None
    producer: Fork | None = None
    made: JobId | None = None
    """The job that the cell's scheduler has made, once it is known."""

    @property
    def job(self) -> JobId:
        """The job that the fault strikes."""
        return self.made or job_id(1_000 * self.number)

    @property
    def victim(self) -> Fork:
        """The process that is at the moment."""
        fork = self.producer or self.worker
        assert fork is not None
        return fork

    async def enqueue(self) -> None:
        """Enqueue the job as the moment wants it."""
        moment = self.moment
        if self.name == "tick":
            await self._declare()
            return
        run_s = LONG_S if self.code == "give" else moment.run_s
        due = {None: None, 1: At(1)}.get(moment.due_ms, After(moment.due_ms or 0))
        await self.queue.enqueue([new_job(self.job, run_s, moment.ending, due)])

    async def fired(self) -> SchedulerView:
        """Return how it stands with the cell's scheduler; know its job, if it has made one."""
        view = await self.queue.schedulers.get(SCHEDULER)
        assert view is not None
        if view.runs:
            self.made = view.runs[0].job_id
        return view

    async def _declare(self) -> None:
        """Let a scheduler make the job, soon and once."""
        # A server that has never seen the script would answer the held call with just that.
        await self.look.do("SCRIPT", "LOAD", script("fire").source)
        store = self.queue.schedulers
        start = EPOCH + timedelta(milliseconds=await store.now_ms() + FIRES_MS)
        template = Template(name="cell", payload=payload(0.02, "ok"))
        spec = scheduler_spec(SCHEDULER, template=template, every="1d", start=start, limit=1)
        await store.put(spec, force=False, source="api", tz="")

    async def enqueue_another(self) -> None:
        """Enqueue a job that runs at once and ends well."""
        another = job_id(1_000 * self.number + 1 + len(self.others))
        await self.queue.enqueue([new_job(another)])
        self.others.append(another)

    async def hold_and_die(self) -> None:
        """Claim the job as a worker does that dies at once."""
        line = self.queue.line(trouble=no_trouble)
        await line.claim(limit=1, lease_ms=1, promote=0)
        await line.aclose()

    async def place(self) -> str:
        """Return where the job lies; empty if nowhere."""
        places = await self.look.places()
        return next((place for place, ids in places.items() if self.job in ids), "")


def new_job(
    id_: JobId, run_s: float = 0.02, ending: str = "ok", due: After | At | None = None
) -> NewJob:
    """Make a job for the handler of the matrix."""
    return NewJob(id_, payload(run_s, ending), due, "cell", None, None)


def payload(run_s: float, ending: str) -> bytes:
    """Return the arguments of the handler of the matrix."""
    return json.dumps({"run_s": run_s, "ending": ending}).encode()
