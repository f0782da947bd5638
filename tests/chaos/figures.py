"""What a history amounts to, in numbers."""

from dataclasses import asdict, dataclass
from typing import Any

from tests.chaos.history import MADE, OK, REFUSED, History

LAWS = (
    *("lost", "double-completed", "overlap", "early", "unexpected", "wrong-end"),
    *("double-fired", "not-fired"),
)
"""What must be 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The counts of a run."""

    jobs: int
    """Jobs that the server took in."""
    occurrences: int
    """Occurrences of schedulers that made some of them."""
    starts: int
    completed: int
    dead: int
    acknowledged: int
    refused: int
    unknown: int
    """Enqueues whose outcome the producer did not learn."""
    recovered: int
    """Of these, jobs that went in and ran."""
    delayed: int
    retried: int
    duplicated: int
    """Jobs that started more often than planned, because a lease was lost."""
    duplicated_share: float
    late_finishes: int
    """Runs that came to their end and were refused, since the lease was lost."""
    reaped: int
    handed_back: int

    def plain(self) -> dict[str, Any]:
        """Return them as plain data."""
        return asdict(self)


def figures_of(history: History) -> Figures:
    """Count."""
    stories = history.stories.values()
    taken = [story for story in stories if story.entries]
    duplicated = sum(story.starts > 1 + story.repeats for story in taken)
    answers = [story.answer for story in stories]
    returned = history.events["returned"]
    return Figures(
        jobs=len(taken),
        occurrences=history.occurrences.count(),
        starts=sum(story.starts for story in taken),
        completed=history.events["completed"],
        dead=history.events["dead"],
        acknowledged=answers.count(OK),
        refused=answers.count(REFUSED),
        unknown=sum(answer not in {OK, REFUSED, MADE} for answer in answers),
        recovered=sum(story.answer not in {OK, REFUSED, MADE} for story in taken),
        delayed=sum(story.delay_ms > 0 for story in taken),
        retried=sum(story.repeats for story in taken) - returned,
        duplicated=duplicated,
        duplicated_share=duplicated / max(1, len(taken)),
        late_finishes=sum(max(0, story.ends - story.completions) for story in taken),
        reaped=history.events["recovered"],
        handed_back=returned,
    )
