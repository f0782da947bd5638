"""Adds everything up, and says what does not add up."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from echomq_worker.demo.files import FileFacts
from echomq_worker.demo.lateness import Lateness, lateness_of
from echomq_worker.demo.ledger import Ledger, Story
from echomq_worker.domain.job import JobId
from echomq_worker.store import Counts

FAILURES_PLANNED = 2
"""How often the failing job fails before it works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that Redis knows at the end, and what was asked for at the start."""

    delays: Mapping[JobId, int]
    """The jobs that index a file, and how long each was to wait, in ms."""
    failing: JobId
    """The job that fails twice and then works."""
    dying: JobId
    """The job that never works."""
    ledger: Ledger
    facts: Mapping[JobId, FileFacts | None]
    """The kept results of the index jobs; None for a file that could not be read."""
    dead: Sequence[JobId]
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The numbers, and what is wrong with them."""

    jobs: int
    seconds: float
    """From the first that was enqueued to the last that ended, by the server's clock."""
    completed: int
    immediate: int
    """Of these: files that were indexed at once."""
    delayed: int
    """Of these: files that were indexed after a wait."""
    retried: int
    """Of these: jobs that had failed before."""
    dead: int
    recovered: int
    """How often a job was taken back from a killed worker."""
    unreadable: int
    files: int
    size: int
    lines: int
    lateness: Lateness | None
    problems: Sequence[str] = field(default=())


def audit(evidence: Evidence) -> Summary:
    """Add up what Redis says."""
    stories = evidence.ledger.stories
    read = [facts for facts in evidence.facts.values() if facts is not None]
    done = [job_id for job_id, story in stories.items() if story.completions]
    late = lateness_of(list(_lateness(evidence)))
    return Summary(
        jobs=len(evidence.delays) + 2,
        seconds=evidence.ledger.span_ms / 1_000,
        completed=len(done),
        immediate=sum(evidence.delays.get(job_id) == 0 for job_id in done),
        delayed=sum(evidence.delays.get(job_id, 0) > 0 for job_id in done),
        retried=sum(stories[job_id].retries > 0 for job_id in done),
        dead=len(evidence.dead),
        recovered=sum(story.recoveries for story in stories.values()),
        unreadable=len(evidence.facts) - len(read),
        files=len(read),
        size=sum(facts.size for facts in read),
        lines=sum(facts.lines for facts in read),
        lateness=late,
        problems=list(_problems(evidence, late)),
    )


def _lateness(evidence: Evidence) -> Iterator[float]:
    for job_id, delay_ms in evidence.delays.items():
        story = evidence.ledger.stories.get(job_id, Story())
        if delay_ms and story.enqueued_ms is not None and story.first_claim_ms is not None:
            yield story.first_claim_ms - (story.enqueued_ms + delay_ms)


def _problems(evidence: Evidence, late: Lateness | None) -> Iterator[str]:
    yield from _story_problems(evidence)
    yield from _state_problems(evidence)
    if late is not None and late.lowest < 0:
        yield f"a delayed job started {-late.lowest:g} ms too early"
    delayed = sum(delay_ms > 0 for delay_ms in evidence.delays.values())
    if delayed != (late.count if late else 0):
        yield f"the log tells the start of {late.count if late else 0} of {delayed} delayed jobs"


def _story_problems(evidence: Evidence) -> Iterator[str]:
    stories = evidence.ledger.stories
    wanted = {*evidence.delays, evidence.failing, evidence.dying}
    if strangers := stories.keys() - wanted:
        yield f"the log names {len(strangers)} jobs that were not enqueued here"
    for job_id in wanted:
        story = stories.get(job_id, Story())
        ends = (0, 1) if job_id == evidence.dying else (1, 0)
        if (story.completions, story.deaths) != ends:
            yield (
                f"job {job_id} completed {story.completions} times and died {story.deaths} times: "
                f"expected {ends[0]} and {ends[1]}"
            )
    failures = stories.get(evidence.failing, Story()).retries
    if failures != FAILURES_PLANNED:
        yield f"job {evidence.failing} failed {failures} times: expected {FAILURES_PLANNED}"


def _state_problems(evidence: Evidence) -> Iterator[str]:
    counts = evidence.counts
    left = counts.pending + counts.active + counts.scheduled
    if left:
        yield f"{left} jobs still wait or run"
    if list(evidence.dead) != [evidence.dying] or counts.dead != 1:
        yield f"{counts.dead} jobs are dead: expected one, {evidence.dying}"
    if missing := evidence.delays.keys() - evidence.facts.keys():
        yield f"{len(missing)} files have no result in Redis"
    if counts.completed != len(evidence.delays) + 1:
        yield (
            f"Redis counted {counts.completed} completed jobs: expected {len(evidence.delays) + 1}"
        )
