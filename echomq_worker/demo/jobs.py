"""The jobs of the demonstration, and the application that its worker runs."""

from dataclasses import dataclass

from echomq_worker.app import EchoMQ
from echomq_worker.client import JobSender
from echomq_worker.demo.audit import FAILURES_PLANNED
from echomq_worker.demo.files import FileFacts, path_of, read_facts
from echomq_worker.domain.backoff import fixed
from echomq_worker.handlers import INJECTED, JobContext

KEEP_RESULTS = "10m"
ATTEMPTS = 10
"""More than any job here needs: workers are killed on the way."""
DEATH = "this job never works, to show what becomes of one that does not"


@dataclass(frozen=True, slots=True)
class DemoJobs:
    """What can be enqueued."""

    index: JobSender[[str], FileFacts | None]
    """Read the file at a path (as `text_of` writes it): None if it cannot be read."""
    failing: JobSender[..., int]
    """Fail twice, then return the number of the attempt."""
    dying: JobSender[[], None]
    """Fail twice, and be dead."""


def declare_jobs(app: EchoMQ) -> DemoJobs:
    """Declare the handlers of the demonstration with an application."""

    @app.job("demo.index", max_attempts=ATTEMPTS, keep_result=KEEP_RESULTS)
    def index(path: str) -> FileFacts | None:
        try:
            return read_facts(path_of(path))
        except OSError:
            return None

    @app.job(
        "demo.fails_twice",
        backoff=fixed("100ms"),
        max_attempts=ATTEMPTS,
        keep_result=KEEP_RESULTS,
    )
    async def failing(context: JobContext = INJECTED) -> int:
        if context.attempt <= FAILURES_PLANNED:
            msg = f"attempt {context.attempt} fails on purpose"
            raise RuntimeError(msg)
        return context.attempt

    @app.job("demo.never_works", backoff=fixed("100ms"), max_attempts=2)
    async def dying() -> None:
        raise RuntimeError(DEATH)

    return DemoJobs(index, failing, dying)


app = EchoMQ()
declare_jobs(app)
