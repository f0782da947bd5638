"""What the jobs of a test came to."""

from collections.abc import Callable
from dataclasses import dataclass

from echomq_worker.domain.duration import format_duration
from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Buried, Completed, Outcome, Retried, Snoozed, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One attempt that was made."""

    id: JobId
    queue: str
    name: str
    """The handler's name; the queue's for a raw job."""
    attempt: int
    """Its number, from 1."""
    outcome: Outcome
    """What became of the job, such as `Completed(...)` or `Retried(delay_ms=1000, ...)`."""
    verdict: Verdict = Verdict.OK
    """What the queue said to the outcome: all but `OK` means that the job was no longer held."""
    error: BaseException | None = None
    """What the handler raised, if it did."""

    def __str__(self) -> str:
        refused = "" if self.verdict is Verdict.OK else f" (refused: {self.verdict.value})"
        return self._story() + refused

    def _story(self) -> str:
        where = f"{self.name} ({self.id}, attempt {self.attempt})"
        match self.outcome:
            case Completed():
                return f"{where} completed"
            case Retried(delay_ms, error):
                return f"{where} runs again in {format_duration(delay_ms)}: {error}"
            case Buried(error):
                return f"{where} died: {error}"
            case Snoozed(delay_ms, unknown=True):
                return f"{where} has no handler here; put off by {format_duration(delay_ms)}"
            case Snoozed(delay_ms):
                return f"{where} was put off by {format_duration(delay_ms)}"
            case _:
                return f"{where} was handed back"


@dataclass(frozen=True, slots=True)
class Report:
    """All attempts that were made, in the order in which they ended."""

    runs: tuple[Ran, ...] = ()

    @property
    def completed(self) -> int:
        """How many worked."""
        return self._count(lambda ran: isinstance(ran.outcome, Completed))

    @property
    def retried(self) -> int:
        """How many failed, so that their jobs run again later."""
        return self._count(lambda ran: isinstance(ran.outcome, Retried))

    @property
    def buried(self) -> int:
        """How many failed for good."""
        return self._count(lambda ran: isinstance(ran.outcome, Buried))

    @property
    def snoozed(self) -> int:
        """How many asked to run later."""
        return self._count(lambda ran: isinstance(ran.outcome, Snoozed)) - self.unknown

    @property
    def unknown(self) -> int:
        """How many have no handler in the application."""
        return self._count(lambda ran: isinstance(ran.outcome, Snoozed) and ran.outcome.unknown)

    def raise_errors(self) -> None:
        """Raise what handlers raised: the one error, or all of them as an exception group.

        A test that expects every job to work fails with the error itself, and its traceback.
        """
        errors = [ran.error for ran in self.runs if ran.error is not None]
        if len(errors) == 1:
            raise errors[0]
        if errors:
            msg = f"{len(errors)} of {len(self.runs)} attempts failed"
            raise BaseExceptionGroup(msg, errors)

    def __str__(self) -> str:
        return "\n".join(str(ran) for ran in self.runs) or "no jobs ran"

    def _count(self, wanted: Callable[[Ran], bool]) -> int:
        return sum(1 for ran in self.runs if wanted(ran))
