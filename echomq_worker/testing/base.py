"""What every kit can do: look at the jobs of an application, and move the clock."""

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.job import State
from echomq_worker.handlers import Registry
from echomq_worker.testing.backend import Admitted, InlineBackend
from echomq_worker.testing.clock import ManualClock
from echomq_worker.testing.enqueued import (
    EnqueuedJob,
    Wanted,
    call_text,
    check_names,
    enqueued_job,
    listing,
    matches,
    name_of,
)


class KitBase:
    """Jobs to look at, and a clock to move.

    Args:
        backend: where the jobs are.
        registry: the handlers of the application.
    """

    def __init__(self, backend: InlineBackend, registry: Registry) -> None:
        self.backend = backend
        """The queues: `kit.backend.queue("mail")` pauses, requeues, removes, counts."""
        self.registry = registry
        """The handlers of the application."""

    @property
    def clock(self) -> ManualClock:
        """The time that the queues go by. It stands still until it is moved."""
        return self.backend.clock

    def advance(self, duration: Duration) -> None:
        """Move the clock on, so that delayed jobs, retries and schedulers become due.

        Nothing runs by that alone: `run_until_idle` runs it. Occurrences of schedulers are due at
        once then, as after an outage: their misfire policy decides which are made up for.

        Args:
            duration: how far, such as `"10m"`, 90 (seconds) or a timedelta.

        Raises:
            InvalidArgumentError: if it is no duration.
        """
        self.clock.advance(duration)

    def jobs(
        self, wanted: Wanted | None = None, *, state: State | None = None
    ) -> list[EnqueuedJob]:
        """Return what was enqueued so far, in order, also what has run since.

        Args:
            wanted: only the jobs of this handler (or of this name).
            state: only those that are in this state now, such as `JobState.PENDING`.
        """
        return [
            job
            for job in map(self._seen, self.backend.admitted)
            if (wanted is None or job.name == name_of(wanted))
            and (state is None or job.state is state)
        ]

    @property
    def dead(self) -> list[EnqueuedJob]:
        """The jobs that have failed for good, in the order in which they were enqueued."""
        return self.jobs(state=State.DEAD)

    def assert_enqueued(self, wanted: Wanted, /, **arguments: object) -> EnqueuedJob:
        """Fail unless a job was enqueued with, among others, these arguments.

        Jobs that have run since count as well.

        Args:
            wanted: the job as `@app.job` made it, or the name of its handler.
            **arguments: by parameter name; arguments that are not named may be anything.

        Returns:
            The newest such job, for a look at its `queue`, `delay_ms` or `state`.

        Raises:
            AssertionError: with a list of what was enqueued.
            TypeError: if the handler takes no argument of such a name.
        """
        found = self._matching(wanted, arguments)
        if not found:
            asked = call_text(name_of(wanted), arguments)
            msg = f"{asked} was not enqueued. {listing(self.jobs())}"
            raise AssertionError(msg)
        return found[-1]

    def assert_not_enqueued(self, wanted: Wanted, /, **arguments: object) -> None:
        """Fail if a job was enqueued with, among others, these arguments.

        Args:
            wanted: the job as `@app.job` made it, or the name of its handler.
            **arguments: by parameter name; arguments that are not named may be anything.

        Raises:
            AssertionError: with a list of the jobs that should not be there.
            TypeError: if the handler takes no argument of such a name.
        """
        if found := self._matching(wanted, arguments):
            asked = call_text(name_of(wanted), arguments)
            msg = f"{asked} should not have been enqueued. {listing(found)}"
            raise AssertionError(msg)

    def forget_enqueued(self) -> None:
        """Start the list of what was enqueued anew. The jobs themselves stay."""
        self.backend.admitted.clear()

    def _matching(self, wanted: Wanted, arguments: dict[str, object]) -> list[EnqueuedJob]:
        name = name_of(wanted)
        check_names(self.registry, name, arguments)
        return [job for job in self.jobs() if matches(job, name, arguments)]

    def _seen(self, admitted: Admitted) -> EnqueuedJob:
        row = self.backend.queue(admitted.queue).memory.rows.get(admitted.job.id)
        return enqueued_job(admitted, row, self.registry)
