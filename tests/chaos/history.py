"""What happened to each job, and whether that was allowed.

Fed with the notes of producers and handlers, then with the server's lifecycle log in its order.
Times are Unix ms by the server's clock, which is the machine's.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tests.chaos.kinds import BACKOFF_MS, BY_LETTER, QUICK
from tests.chaos.occurrences import Occurrences

EXAMPLES = 10
NOTHING: Mapping[str, int] = MappingProxyType({})
CLOCK_STEP_MS = 2
"""How far the server's clock may lag behind within one of its turns."""
INVOKED, OK, REFUSED, UNKNOWN, MADE = range(5)


class Story:
    """One job's life."""

    __slots__ = (
        "answer",
        "claimed_ms",
        "claims",
        "completions",
        "deaths",
        "delay_ms",
        "due_ms",
        "end",
        "ends",
        "entries",
        "held",
        "kind",
        "repeats",
        "returned",
        "starts",
        "token",
    )

    def __init__(self, kind: str = "", delay_ms: int = 0) -> None:
        self.kind = kind
        self.delay_ms = delay_ms
        self.answer = INVOKED
        """What its producer was told."""
        self.entries = 0
        """How often the server took it in."""
        self.starts = 0
        self.ends = 0
        """How often its handler came to its end."""
        self.end: tuple[int, int] = (0, 0)
        """The attempt that ended first, and when."""
        self.claims = 0
        self.returned = 0
        """How often it was handed back, which no attempt counts."""
        self.repeats = 0
        """How often it was to start again: retries and hand-backs."""
        self.completions = 0
        self.deaths = 0
        self.held = False
        self.due_ms = 0
        self.claimed_ms = 0
        self.token = 0


@dataclass(slots=True)
class History:
    """All jobs of a run."""

    lease_ms: int
    stories: dict[str, Story] = field(default_factory=dict[str, Story])
    wrong: Counter[str] = field(default_factory=Counter[str])
    """How often each law was broken."""
    examples: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The first cases of each, in words."""
    events: Counter[str] = field(default_factory=Counter[str])
    occurrences: Occurrences = field(default_factory=Occurrences)
    _more_ends: dict[str, list[tuple[int, int]]] = field(
        default_factory=dict[str, list[tuple[int, int]]]
    )
    """Of the few jobs that ended more than once."""

    def invoked(self, job_id: str, kind: str, delay_ms: int) -> None:
        """Note that a producer is about to enqueue a job."""
        self.stories[job_id] = Story(kind, delay_ms)

    def answered(self, job_id: str, answer: int) -> None:
        """Note what the producer was told."""
        self.stories[job_id].answer = answer

    def made(self, job_id: str, scheduler: str, instant: int) -> None:
        """Note that a scheduler has made a job, which starts now."""
        self.stories.setdefault(job_id, Story(QUICK.letter)).answer = MADE
        self.occurrences.ran(scheduler, instant, job_id)

    def started(self, job_id: str) -> None:
        """Note that a handler started."""
        self._story(job_id, "started").starts += 1

    def ended(self, job_id: str, attempt: int, at_ms: int) -> None:
        """Note that a handler came to its end without an exception."""
        story = self._story(job_id, "ended")
        story.ends += 1
        if story.ends == 1:
            story.end = (attempt, at_ms)
        else:
            self._more_ends.setdefault(job_id, []).append((attempt, at_ms))

    def event(self, at_ms: int, event: str, job_id: str, token: int) -> None:
        """Take in one entry of the server's log."""
        story = self._story(job_id, event)
        self.events[event] += 1
        match event:
            case "enqueued":
                self._enters(story, job_id, at_ms)
            case "scheduled" if token == 0:
                self._enters(story, job_id, at_ms + story.delay_ms)
            case "scheduled":
                self._lets_go(story, job_id, event, token)
                story.repeats += 1
                story.due_ms = at_ms + BACKOFF_MS
            case "promoted":
                if at_ms < story.due_ms:
                    self._complain("early", f"{job_id} promoted {story.due_ms - at_ms} ms early")
            case "claimed":
                self._claims(story, job_id, at_ms, token)
            case "recovered":
                self._recovers(story, job_id, at_ms)
            case "completed":
                self._completes(story, job_id, at_ms, token)
            case "returned" | "dead":
                self._lets_go(story, job_id, event, token)
                story.repeats += event == "returned"
                story.returned += event == "returned"
                story.deaths += event == "dead"
            case _:
                self._complain("unexpected", f"{job_id}: the log says {event}")

    def judge(self, counted: Mapping[str, int] = NOTHING) -> None:
        """Look at how every job has ended, once nothing happens any more.

        Args:
            counted: how many jobs the server says that each scheduler has made.
        """
        for law, text in self.occurrences.complaints(counted):
            self._complain(law, text)
        for job_id, story in self.stories.items():
            self._judge(job_id, story)

    def _judge(self, job_id: str, story: Story) -> None:
        ends = story.completions + story.deaths
        if ends == 0 and (story.answer == OK or story.entries):
            self._complain("lost", f"{job_id}: {_told(story)}")
        if ends > 1:
            self._complain("double-completed", f"{job_id}: {_told(story)}")
        if story.entries > 1 or (story.entries and story.answer == REFUSED):
            self._complain("unexpected", f"{job_id} was let in: {_told(story)}")
        if story.starts > story.claims:
            self._complain("overlap", f"{job_id} ran twice under one claim: {_told(story)}")
        if story.completions and not story.ends:
            self._complain("unexpected", f"{job_id} completed and never ran: {_told(story)}")
        if ends == 1 and story.kind and BY_LETTER[story.kind].dies is not (story.deaths == 1):
            self._complain("wrong-end", f"{job_id}: {_told(story)}")

    def _enters(self, story: Story, job_id: str, due_ms: int) -> None:
        story.entries += 1
        story.due_ms = due_ms
        if story.completions + story.deaths:
            self._complain("unexpected", f"{job_id} entered again after its end")

    def _claims(self, story: Story, job_id: str, at_ms: int, token: int) -> None:
        if story.held:
            self._complain("overlap", f"{job_id} claimed as {token} while {story.token} is held")
        if story.completions + story.deaths:
            self._complain("double-completed", f"{job_id} claimed again after its end")
        if at_ms < story.due_ms:
            self._complain("early", f"{job_id} claimed {story.due_ms - at_ms} ms early")
        story.claims += 1
        story.token = token
        story.held = True
        story.claimed_ms = at_ms

    def _recovers(self, story: Story, job_id: str, at_ms: int) -> None:
        story.held = False
        if at_ms < story.claimed_ms + self.lease_ms:
            held_ms = at_ms - story.claimed_ms
            self._complain("overlap", f"{job_id} taken back after {held_ms} ms of its lease")

    def _completes(self, story: Story, job_id: str, at_ms: int, token: int) -> None:
        self._lets_go(story, job_id, "completed", token)
        story.completions += 1
        attempt = token - story.returned
        ends = [story.end, *self._more_ends.get(job_id, ())]
        if story.ends and not any(
            ended == attempt and end_ms <= at_ms + CLOCK_STEP_MS for ended, end_ms in ends
        ):
            self._complain("overlap", f"{job_id} completed as {token} at {at_ms}, but ended {ends}")

    def _lets_go(self, story: Story, job_id: str, event: str, token: int) -> None:
        if token != story.token:
            self._complain("overlap", f"{job_id}: {event} by {token} while {story.token} counts")
        story.held = False

    def _story(self, job_id: str, what: str) -> Story:
        if (story := self.stories.get(job_id)) is None:
            self._complain("unexpected", f"{job_id} {what}, and nobody enqueued it")
            story = self.stories[job_id] = Story()
        return story

    def _complain(self, law: str, text: str) -> None:
        self.wrong[law] += 1
        if self.wrong[law] <= EXAMPLES:
            self.examples.setdefault(law, []).append(text)


def _told(story: Story) -> str:
    told = (f"{name} {getattr(story, name)}" for name in Story.__slots__ if name != "answer")
    answers = ("none", "ok", "refused", "unknown", "made by a scheduler")
    return f"answer {answers[story.answer]}, {', '.join(told)}"
