"""Malformed rows and members are set aside with a reason; their neighbours run."""

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Outcome, Retried, Verdict
from echomq_worker.store import Places, QueueStore, Removed, Requeued
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, claim, claim_one, enqueue, handout, new_job, settle
from tests.support.look import Look

WEEK_MS = 7 * 24 * 3_600_000
Damage = tuple[tuple[str | bytes, ...], ...]

DAMAGES: dict[str, Damage] = {
    "there is no row": (("DEL", "row"),),
    "the row is not a hash": (("DEL", "row"), ("SET", "row", "x")),
    "there is no payload": (("HDEL", "row", "payload"),),
    "attempts is not a number": (("HSET", "row", "attempts", "many"),),
}
NO_NUMBERS = ("", "-1", "1.5", "1e3", " 1", "0x1", "99999999999999999999", "one")


async def damage(look: Look, fault: str) -> None:
    """Damage the row of A."""
    for command, _, *rest in DAMAGES[fault]:
        await look.do(command, look.keys.job(A), *rest)


async def set_aside(look: Look) -> list[tuple[str, str]]:
    return [(entry["id"], entry["reason"]) for entry in await look.quarantine()]


@pytest.mark.parametrize("fault", DAMAGES)
async def test_a_claim_sets_a_bad_row_aside_and_takes_its_neighbours(
    queue: QueueStore, line: Line, look: Look, fault: str
):
    await enqueue(queue, A, B)
    await damage(look, fault)

    claimed = await handout(line, 5)

    assert [job.id for job in claimed.jobs] == [B]
    assert claimed.set_aside == 1
    assert await set_aside(look) == [(A, fault)]
    assert await look.places() == {"active": [B]}


@pytest.mark.parametrize("fault", DAMAGES)
async def test_promotion_sets_a_bad_row_aside_and_moves_its_neighbours(
    queue: QueueStore, look: Look, fault: str
):
    await queue.enqueue([new_job(A, at_ms=1), new_job(B, at_ms=2)])
    await damage(look, fault)

    assert (await queue.promote(10)).moved == 1
    assert await set_aside(look) == [(A, fault)]
    assert await look.places() == {"pending": [B]}


@pytest.mark.parametrize("fault", DAMAGES)
async def test_the_reaper_sets_a_bad_row_aside_and_takes_back_its_neighbours(
    queue: QueueStore, line: Line, look: Look, fault: str
):
    await enqueue(queue, A, B)
    await claim(line, 2)
    await damage(look, fault)
    await look.expire_lease(A, B)

    reaped = await queue.reap(10)

    assert (reaped.recovered, reaped.buried) == ((B,), ())
    assert await set_aside(look) == [(A, fault)]
    assert await look.places() == {"pending": [B]}


@pytest.mark.parametrize("fault", DAMAGES)
async def test_requeueing_sets_a_bad_row_aside_and_brings_back_its_neighbours(
    queue: QueueStore, line: Line, look: Look, fault: str
):
    await enqueue(queue, A, B)
    await line.settle([(job, Buried("no")) for job in await claim(line, 2)])
    await damage(look, fault)

    assert await queue.requeue([A, B]) == [Requeued.GONE, Requeued.OK]
    assert await set_aside(look) == [(A, fault)]
    assert await look.places() == {"pending": [B]}


@pytest.mark.broken_state("rows are of another type")
@pytest.mark.parametrize("fault", ["there is no row", "the row is not a hash"])
async def test_what_is_dead_without_a_row_can_be_removed(
    queue: QueueStore, line: Line, look: Look, fault: str
):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Buried("no"))
    await damage(look, fault)

    assert await queue.remove(A, Places.WAITING) is Removed.GONE
    assert await queue.remove(A, Places.DEAD) is Removed.OK
    assert await queue.remove(A, Places.DEAD) is Removed.GONE
    assert await look.places() == {}
    assert await look.members(look.keys.dead_at) == []


@pytest.mark.parametrize("number", NO_NUMBERS)
async def test_only_a_plain_number_counts_attempts(
    queue: QueueStore, line: Line, look: Look, number: str
):
    await enqueue(queue, A)
    await look.do("HSET", look.keys.job(A), "attempts", number)

    assert await claim(line) == []
    assert await set_aside(look) == [(A, "attempts is not a number")]


@pytest.mark.parametrize("member", ["junk", "JOB", "JOB0NsUH6L9tuDx", "USR0NsUH6L9tuD", "\x00\xff"])
async def test_a_member_that_is_no_job_id_is_set_aside(
    queue: QueueStore, line: Line, look: Look, member: str
):
    for place in (look.keys.pending, look.keys.schedule, look.keys.active):
        await look.do("ZADD", place, 0, member)
    await enqueue(queue, B)

    done = await line.beat(
        limit=9, lease_ms=9_000, promote=9, reap=9, crash_limit=0, max_attempts=0
    )

    assert [job.id for job in done.claimed.jobs] == [B]
    assert await look.places() == {"active": [B]}
    assert len(await look.quarantine()) == 3


async def test_a_member_that_is_no_job_id_is_set_aside_even_with_a_row(
    queue: QueueStore, line: Line, look: Look
):
    row = f"{look.keys.root}job:JOB:weird"
    await look.do("HSET", row, "state", "pending", "attempts", "0", "payload", "x")
    await look.do("ZADD", look.keys.pending, 0, "JOB:weird")
    await enqueue(queue, B)

    assert [job.id for job in await claim(line, 5)] == [B]
    assert await set_aside(look) == [("JOB:weird", "the id is not a branded job id")]
    assert await look.do("DEL", f"{look.keys.root}aside:JOB:weird") == 1


async def test_what_is_set_aside_is_copied_up_to_a_bound(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([new_job(A, payload=b"p" * 10_000, name="n" * 10_000)])
    await look.do("HSET", look.keys.job(A), "attempts", "many")
    await look.do("ZADD", look.keys.pending, 0, "z" * 10_000)

    await claim(line, 5)

    first, second = await look.quarantine()
    assert (first["state"], first["attempts"]) == ("pending", "many")
    assert (first["payload"], first["name"]) == ("p" * 4096, "n" * 4096)
    assert second["id"] == "z" * 200


@pytest.mark.parametrize("fault", [fault for fault in DAMAGES if fault != "there is no row"])
async def test_a_bad_row_is_kept_for_a_week_out_of_everybodys_way(
    queue: QueueStore, line: Line, look: Look, fault: str
):
    await enqueue(queue, A)
    await damage(look, fault)
    kept = await look.do("DUMP", look.keys.job(A))
    await claim(line)

    aside = look.keys.aside(A)
    assert await look.do("DUMP", aside) == kept
    assert WEEK_MS - 60_000 < await look.do("PTTL", aside) <= WEEK_MS
    assert await look.do("EXISTS", look.keys.job(A)) == 0
    assert await queue.inspect(A) is None


async def test_the_id_of_what_was_set_aside_is_free_for_a_job_that_can_be_run(
    queue: QueueStore, line: Line, look: Look
):
    for _ in range(2):
        assert await queue.enqueue([new_job(A)]) == ["enqueued"]
        await damage(look, "attempts is not a number")
        assert await claim(line) == []

    assert await queue.enqueue([new_job(A)]) == ["enqueued"]
    assert [job.id for job in await claim(line)] == [A]
    assert (await queue.counts()).set_aside == 2


async def test_the_quarantine_is_bounded(queue: QueueStore, line: Line, look: Look):
    members = (part for number in range(5_000) for part in (0, f"junk-{number}"))
    await look.do("ZADD", look.keys.pending, *members)

    for _ in range(5):
        await claim(line, 1_000)

    assert await look.places() == {}
    assert 1_000 <= await look.do("XLEN", look.keys.quarantine) < 1_500
    assert (await queue.counts()).pending == 0


@pytest.mark.broken_state("a row is of another type")
@pytest.mark.parametrize("outcome", [Completed(), Retried(0, "no"), HandedBack()])
async def test_an_outcome_for_a_row_of_another_type_is_stale_and_the_others_are_written(
    queue: QueueStore, line: Line, look: Look, outcome: Outcome
):
    await enqueue(queue, A, B)
    a, b = await claim(line, 2)
    await damage(look, "the row is not a hash")

    settled = await line.settle([(a, outcome), (b, Completed())])

    assert settled.verdicts == [Verdict.STALE, Verdict.OK]
    assert await queue.extend([a, b], 9_000) == [Verdict.STALE, Verdict.GONE]
    assert await look.places() == {"active": [A]}


NONSENSE = ("crashes", "returned", "max", "unknown", "keep", "name", "failures")


@pytest.mark.parametrize("field", NONSENSE)
async def test_nonsense_in_another_field_stops_neither_the_job_nor_its_neighbours(
    queue: QueueStore, line: Line, look: Look, field: str
):
    await enqueue(queue, A, B)
    await look.do("HSET", look.keys.job(A), field, "\xff\x00?")

    for outcome in (HandedBack(), Retried(0, "no"), None):
        jobs = await claim(line, 2, promote=2)
        assert [job.id for job in jobs] == [A, B]
        if outcome is None:
            await look.expire_lease(A, B)
            assert (await queue.reap(9, crash_limit=9, max_attempts=9)).recovered == (A, B)
        else:
            assert (await line.settle([(job, outcome) for job in jobs])).verdicts == [
                Verdict.OK
            ] * 2
    assert await look.quarantine() == []


async def test_nonsense_in_the_counters_stops_nothing(queue: QueueStore, line: Line, look: Look):
    for key in (look.keys.completed_count, look.keys.failed_count):
        await look.do("HSET", key, "count", "many")
    await enqueue(queue, A, B, C)
    a, b, _ = await claim(line, 3)
    await look.expire_lease(C)

    settled = await line.settle([(a, Completed()), (b, Buried("no"))])
    await queue.reap(1, crash_limit=1)

    assert settled.verdicts == [Verdict.OK, Verdict.OK]
    assert await look.places() == {"dead": [B, C]}
    counts = await queue.counts()
    assert (counts.completed, counts.failed) == (1, 2)


@pytest.mark.parametrize("text", ["JOBzzzzzzzzzzz", "JOBAzL8n0Y58m8", "JOBB0000000000"])
async def test_an_id_above_the_highest_is_set_aside(line: Line, look: Look, text: str):
    row = f"{look.keys.root}job:{text}"
    await look.do("HSET", row, "state", "pending", "attempts", 0, "payload", "x")
    await look.do("ZADD", look.keys.pending, 0, text)

    assert await claim(line) == []
    assert await set_aside(look) == [(text, "the id is not a branded job id")]
    await look.do("DEL", f"{look.keys.root}aside:{text}")


async def test_the_highest_id_of_all_is_a_job(queue: QueueStore, line: Line):
    highest = JobId("JOBAzL8n0Y58m7")
    await enqueue(queue, highest)

    assert [job.id for job in await claim(line)] == [highest]
