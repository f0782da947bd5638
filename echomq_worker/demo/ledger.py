"""What the queue's log says has become of each job."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from echomq_worker.domain.job import JobId
from echomq_worker.store import LogEntry


@dataclass(slots=True)
class Story:
    """One job's life so far, by the server's clock (Unix ms)."""

    enqueued_ms: int | None = None
    scheduled: bool = False
    """True if it had to wait for its time first."""
    first_claim_ms: int | None = None
    claims: int = 0
    retries: int = 0
    """Attempts that failed and were to be repeated."""
    recoveries: int = 0
    """How often it was taken back from a worker that had lost it."""
    completions: int = 0
    deaths: int = 0

    @property
    def over(self) -> bool:
        """True once it has completed or died."""
        return self.completions + self.deaths > 0


@dataclass(slots=True)
class Ledger:
    """Reads the log, entry by entry."""

    stories: dict[JobId, Story] = field(default_factory=dict[JobId, Story])
    events: Counter[str] = field(default_factory=Counter[str])
    """How often each event has happened; `retried` is told apart from `scheduled`."""
    position: str = "0"
    """The last entry that was read."""
    first_ms: int | None = None
    """When the first thing happened."""
    over: int = 0
    """How many jobs have completed or died."""

    def read(self, entries: Iterable[LogEntry]) -> list[tuple[str, LogEntry]]:
        """Take entries in; return them, each with what it is called here."""
        told: list[tuple[str, LogEntry]] = []
        for entry in entries:
            story = self.stories.setdefault(entry.id, Story())
            was_over = story.over
            event = self._take(story, entry)
            self.over += story.over and not was_over
            self.events[event] += 1
            self.position = entry.position
            self.first_ms = entry.at_ms if self.first_ms is None else self.first_ms
            told.append((event, entry))
        return told

    @property
    def span_ms(self) -> int:
        """How long it was from the first event to the last, in ms."""
        return 0 if self.first_ms is None else int(self.position.partition("-")[0]) - self.first_ms

    def _take(self, story: Story, entry: LogEntry) -> str:
        match entry.event:
            case "scheduled" if entry.token > 0:
                story.retries += 1
                return "retried"
            case "enqueued" | "scheduled":
                story.enqueued_ms = entry.at_ms
                story.scheduled = entry.event == "scheduled"
            case "claimed":
                story.claims += 1
                if story.first_claim_ms is None:
                    story.first_claim_ms = entry.at_ms
            case "recovered":
                story.recoveries += 1
            case "completed":
                story.completions += 1
            case "dead":
                story.deaths += 1
            case _:
                pass
        return entry.event
