"""Schedulers in memory answer as those on a server."""

from datetime import UTC, datetime

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.domain.scheduling.overlap import Overlap
from echomq_worker.domain.scheduling.records import (
    Firing,
    OccurrenceVerdict,
    PutVerdict,
    RunOutcome,
    Whole,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.domain.views import Places, Removed
from echomq_worker.testing import InlineBackend, ManualClock
from echomq_worker.testing.schedulers import InlineSchedulers

MINUTE = 60_000
NOON = int(datetime(2027, 3, 1, 12, tzinfo=UTC).timestamp()) * 1_000


@pytest.fixture
def backend() -> InlineBackend:
    return InlineBackend(ManualClock(NOON))


@pytest.fixture
def store(backend: InlineBackend) -> InlineSchedulers:
    return backend.queue("q").schedulers


def every_minute(
    overlap: str = "allow", limit: int | None = None, revision: int = 0, payload: bytes = b"{}"
) -> SchedulerSpec:
    return scheduler_spec(
        "minute",
        template=Template(name="tick", payload=payload, max_attempts=3, timeout_ms=5, ttl_ms=7),
        every="1m",
        overlap=overlap,
        limit=limit,
        revision=revision,
    )


async def put(store: InlineSchedulers, spec: SchedulerSpec, *, force: bool = False) -> PutVerdict:
    return await store.put(spec, force=force, source="code", tz="")


def job(number: int) -> JobId:
    return JobId(f"JOB{number:011}")


async def fire(
    backend: InlineBackend, store: InlineSchedulers, first_id: int
) -> tuple[OccurrenceVerdict, ...]:
    """Fire the one scheduler that is due, for its oldest instant."""
    ((due,), now_ms) = ((await store.due(10)).schedulers, backend.clock.now_ms())
    assert due.next_ms is not None
    following = due.next_ms + MINUTE
    assert due.next_ms <= now_ms
    firing = Firing(
        name=due.name,
        expected_ms=due.next_ms,
        digest=due.digest,
        next_ms=following,
        wake_ms=following,
        occurrences=((job(first_id), due.next_ms),),
    )
    (fired,) = await store.fire([firing])
    assert fired.whole is Whole.OK
    return fired.verdicts


async def test_the_job_of_an_occurrence_is_made_of_the_template(
    backend: InlineBackend, store: InlineSchedulers
):
    assert await put(store, every_minute()) is PutVerdict.CREATED
    backend.clock.advance("1m")
    assert await fire(backend, store, 1) == (OccurrenceVerdict.FIRED,)

    (held,) = (await backend.queue("q").line().claim(limit=1, lease_ms=1_000, promote=0)).jobs
    assert (held.name, held.payload, held.max_attempts, held.timeout_ms) == ("tick", b"{}", 3, 5)
    assert (held.scheduler, held.instant_ms) == ("minute", NOON + MINUTE)
    assert held.expires_ms == NOON + MINUTE + 7


async def test_a_firing_that_was_done_changes_nothing(
    backend: InlineBackend, store: InlineSchedulers
):
    await put(store, every_minute())
    backend.clock.advance("1m")
    (due,) = (await store.due(10)).schedulers
    instant = NOON + MINUTE
    firing = Firing(
        name="minute",
        expected_ms=due.next_ms,
        digest=due.digest,
        next_ms=instant + MINUTE,
        wake_ms=instant + MINUTE,
        occurrences=((job(1), instant),),
    )
    assert [each.whole for each in await store.fire([firing])] == [Whole.OK]
    assert [each.whole for each in await store.fire([firing])] == [Whole.TAKEN]
    assert (await backend.queue("q").counts()).pending == 1


async def test_an_id_that_is_taken_makes_no_job(backend: InlineBackend, store: InlineSchedulers):
    await put(store, every_minute())
    backend.clock.advance("1m")
    await fire(backend, store, 1)
    backend.clock.advance("1m")
    (due,) = (await store.due(10)).schedulers
    firing = Firing(
        name="minute",
        expected_ms=due.next_ms,
        digest=due.digest,
        next_ms=None,
        wake_ms=None,
        occurrences=((job(1), NOON + 2 * MINUTE),),
    )
    assert [each.whole for each in await store.fire([firing])] == [Whole.ID_TAKEN]


@pytest.mark.parametrize(
    ("overlap", "second"),
    [
        (Overlap.ALLOW, OccurrenceVerdict.FIRED),
        (Overlap.SKIP, OccurrenceVerdict.SKIPPED),
        (Overlap.QUEUE_ONE, OccurrenceVerdict.HELD),
    ],
)
async def test_a_predecessor_that_waits_is_told_from_one_that_has_ended(
    backend: InlineBackend, store: InlineSchedulers, overlap: str, second: OccurrenceVerdict
):
    await put(store, every_minute(overlap))
    backend.clock.advance("1m")
    await fire(backend, store, 1)
    backend.clock.advance("1m")
    assert await fire(backend, store, 2) == (second,)
    counts = await backend.queue("q").counts()
    assert counts.pending == (2 if overlap == "allow" else 1)


async def test_declarations_replace_each_other_as_on_a_server(store: InlineSchedulers):
    one, other = every_minute(), every_minute(payload=b"[]")
    assert await put(store, one) is PutVerdict.CREATED
    assert await put(store, one) is PutVerdict.UNCHANGED
    assert await put(store, other) is PutVerdict.CHANGED
    assert await put(store, one) is PutVerdict.SUPERSEDED
    assert await put(store, one, force=True) is PutVerdict.CHANGED
    assert await put(store, every_minute(limit=3)) is PutVerdict.RETIMED
    assert await put(store, every_minute(revision=2, payload=b"[]")) is PutVerdict.RETIMED
    assert await put(store, one) is PutVerdict.OLDER


async def test_a_job_that_is_removed_is_noted_as_that(
    backend: InlineBackend, store: InlineSchedulers
):
    await put(store, every_minute())
    backend.clock.advance("1m")
    await fire(backend, store, 1)
    assert await backend.queue("q").remove(job(1), Places.WAITING) is Removed.OK
    view = await store.get("minute")
    assert view is not None
    assert [note.outcome for note in view.runs] == [RunOutcome.REMOVED]
