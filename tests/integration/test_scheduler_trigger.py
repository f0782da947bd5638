"""Schedulers that are triggered by hand."""

import pytest

from echomq_worker.domain.job import Admission
from echomq_worker.domain.outcome import Completed
from echomq_worker.domain.scheduling.records import SchedulerState
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import InvalidIdError
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, claim_one, enqueue, job_id, settle
from tests.support.look import Look
from tests.support.schedulers import FIRED, HELD, SKIPPED, Timetable, cron, every


async def test_a_trigger_makes_a_job_at_once_and_moves_nothing(times: Timetable, look: Look):
    await times.put(every(template=Template(name="report", payload=b"p", ttl_ms=1_000)))
    before = await times.view()
    assert await times.store.trigger("s1", A) is Admission.ENQUEUED

    view = await times.view()
    assert (view.next_ms, view.wake_ms) == (before.next_ms, before.wake_ms)
    assert (view.count, view.last_ms) == (0, None)
    (run,) = view.runs
    assert (run.job_id, run.outcome) == (A, "triggered")
    row = await look.row(A)
    assert (row["scheduler"], row["instant"]) == ("s1", str(run.instant_ms))
    assert (row["payload"], row["name"]) == ("p", "report")
    assert int(row["expires"]) == run.at_ms + 1_000
    assert await look.bells() == 1


async def test_a_paused_and_an_ended_scheduler_can_be_triggered(times: Timetable):
    await times.put(every("s1"))
    await times.store.pause("s1")
    await times.put(every("s2", limit=1))
    await times.make_due("s2")
    await times.fire_due()

    assert await times.store.trigger("s1", A) is Admission.ENQUEUED
    assert await times.store.trigger("s2", B) is Admission.ENQUEUED
    assert (await times.view("s1")).state is SchedulerState.PAUSED
    assert (await times.view("s2")).state is SchedulerState.ENDED


async def test_a_trigger_does_not_ask_about_overlaps_but_later_occurrences_do(
    times: Timetable, line: Line
):
    await times.put(every(overlap="skip"))
    await times.make_due()
    await times.fire_due()
    assert await times.store.trigger("s1", job_id(500)) is Admission.ENQUEUED
    assert len(await times.jobs()) == 2

    held = await claim_one(line)
    assert held.id != job_id(500)
    await settle(line, held, Completed())
    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    await settle(line, await claim_one(line), Completed())
    await times.make_due()
    assert await times.fire_one() == [FIRED]


async def test_many_triggers_do_not_hide_the_predecessor(times: Timetable, line: Line, look: Look):
    await times.put(every(overlap="skip"))
    await times.make_due()
    await times.fire_due()
    held = await claim_one(line)
    for number in range(15):
        await times.store.trigger("s1", job_id(500 + number))

    live = (await look.hash(look.keys.scheduler("s1")))["live"].split()
    assert (live[0], live[-1], len(live)) == (held.id, job_id(514), 16)
    for _ in range(15):
        await settle(line, await claim_one(line), Completed())
    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    await settle(line, held, Completed())
    await times.make_due()
    assert await times.fire_one() == [FIRED]


@pytest.mark.parametrize(("policy", "verdict"), [("skip", SKIPPED), ("queue-one", HELD)])
async def test_the_last_of_many_triggers_is_a_predecessor(
    times: Timetable, line: Line, policy: str, verdict: str
):
    await times.put(every(overlap=policy))
    for number in range(103):
        await times.store.trigger("s1", job_id(500 + number))
    held = [await claim_one(line) for _ in range(103)]
    for each in held[:-1]:
        await settle(line, each, Completed())
    await times.make_due()
    assert await times.fire_one() == [verdict]


async def test_a_trigger_is_told_of_an_id_that_another_job_has(
    times: Timetable, queue: QueueStore, look: Look
):
    await times.put(every())
    await enqueue(queue, A)
    before = await look.dumps()

    assert await times.store.trigger("s1", A) is Admission.DUPLICATE
    assert await look.dumps() == before
    with pytest.raises(InvalidIdError):
        await times.store.trigger("s1", "A")  # pyright: ignore[reportArgumentType]


async def test_a_trigger_does_not_take_the_note_of_another_occurrence(times: Timetable, look: Look):
    await times.put(every())
    soon = await times.store.now_ms() + 5
    runs = " ".join(str(soon + i) for i in range(500))
    await look.do("HSET", look.keys.scheduler("s1"), "runs", runs)
    while await times.store.now_ms() < soon:
        pass

    await times.store.trigger("s1", A)
    assert int((await look.row(A))["instant"]) == soon + 500


@pytest.mark.parametrize("planned", ["next", "held", "grid", "second"])
async def test_a_trigger_does_not_take_the_instant_of_an_occurrence(
    times: Timetable, look: Look, planned: str
):
    await times.put(cron("0 9 * * *") if planned == "second" else every(period_ms=100_000))
    # Every other instant is taken, so that the one in question is the first that is free.
    step_ms = 1_000 if planned == "second" else 100
    instant = (await times.store.now_ms() // step_ms + 1) * step_ms
    fields = {"next": instant, "held": instant, "grid": instant - 300_000, "second": ""}
    key = look.keys.scheduler("s1")
    await look.do("HSET", key, "held" if planned == "held" else "next", fields[planned])
    taken = set(range(instant - 1_200, instant + 500)) - {instant}
    await look.do("HSET", key, "runs", " ".join(map(str, sorted(taken))))

    await times.store.trigger("s1", A)
    assert int((await look.row(A))["instant"]) == instant + 500
    await times.store.remove("s1")
