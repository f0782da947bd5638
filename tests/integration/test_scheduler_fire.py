"""Firing: each occurrence makes one job by its policies, whoever fires and how often."""

from dataclasses import replace

import pytest

from echomq_worker.domain.job import Held
from echomq_worker.domain.outcome import Buried, Completed, Retried
from echomq_worker.domain.scheduling.records import (
    FIRED_AT_ONCE,
    Fired,
    RunNote,
    SchedulerState,
    Whole,
)
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.protocol.scheduler_replies import firing_operands
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, claim, claim_one, enqueue, settle
from tests.support.look import Look
from tests.support.schedulers import (
    DONE,
    FIRED,
    HELD,
    PERIOD_MS,
    SKIPPED,
    Timetable,
    cron,
    every,
    firing,
    words,
)


async def test_an_occurrence_makes_a_job_of_the_template(times: Timetable, look: Look):
    template = Template(
        name="report",
        payload=b"\x00{}",
        max_attempts=3,
        keep_result_ms=60_000,
        timeout_ms=5_000,
        ttl_ms=9_000,
    )
    await times.put(every(template=template))
    instant = await times.make_due()
    before_ms = await times.store.now_ms()
    assert await times.fire_one() == [FIRED]

    (job,) = await times.jobs()
    row = await look.row(job)
    expires = int(row.pop("expires"))
    assert before_ms + 9_000 <= expires <= await times.store.now_ms() + 9_000
    assert row == {
        "state": "pending",
        "attempts": "0",
        "payload": "\x00{}",
        "name": "report",
        "max": "3",
        "keep": "60000",
        "timeout": "5000",
        "scheduler": "s1",
        "instant": str(instant),
        "more": "1",
    }
    assert await look.bells() == 1


async def test_what_the_template_leaves_open_is_not_on_the_row(times: Timetable, look: Look):
    await times.put(every(template=Template(name=None)))
    await times.make_due()
    await times.fire_due()

    (job,) = await times.jobs()
    assert set(await look.row(job)) == {
        *("state", "attempts", "payload", "scheduler", "instant", "more")
    }


async def test_a_fired_scheduler_waits_for_its_next_instant(times: Timetable, look: Look):
    await times.put(every())
    instant = await times.make_due()
    await times.fire_due()

    view = await times.view()
    assert (view.last_ms, view.next_ms, view.count) == (instant, instant + PERIOD_MS, 1)
    assert await look.scores(look.keys.schedulers) == {"s1": instant + PERIOD_MS}
    due = await times.due()
    assert (due.schedulers, due.next_ms) == ((), instant + PERIOD_MS)


async def test_a_job_of_a_scheduler_tells_its_worker_of_it(times: Timetable, line: Line):
    await times.put(every(template=Template(name="report", timeout_ms=5_000)))
    instant = await times.make_due()
    await times.fire_due()

    held: Held = await claim_one(line)
    assert (held.scheduler, held.instant_ms, held.timeout_ms) == ("s1", instant, 5_000)


async def test_what_is_fired_twice_makes_one_job(times: Timetable):
    await times.put(every())
    await times.make_due()
    due = await times.due()
    first, second = await times.plan(due), await times.plan(due)

    assert [each.whole for each in await times.store.fire(first)] == [Whole.OK]
    assert [each.whole for each in await times.store.fire(second)] == [Whole.TAKEN]
    assert [each.whole for each in await times.store.fire(first)] == [Whole.TAKEN]
    assert await times.jobs() == [first[0].occurrences[0][0]]
    assert (await times.view()).count == 1


async def test_one_that_is_named_twice_in_a_call_fires_once(times: Timetable):
    await times.put(every())
    await times.make_due()
    due = await times.due()
    both = [*await times.plan(due), *await times.plan(due)]

    assert [each.whole for each in await times.store.fire(both)] == [Whole.OK, Whole.TAKEN]
    assert len(await times.jobs()) == 1


async def test_missed_occurrences_fire_oldest_first_and_are_counted(times: Timetable):
    await times.put(every(misfire="all(max=3)"))
    instant = await times.make_due(periods=5)

    assert await times.fire_one() == [FIRED] * 3
    view = await times.view()
    assert (view.count, view.missed) == (3, 2)
    newest = instant + 4 * PERIOD_MS
    assert [run.instant_ms for run in view.runs] == [
        newest - 2 * PERIOD_MS,
        newest - PERIOD_MS,
        newest,
    ]
    assert view.last_ms == newest


async def test_an_instant_that_is_over_is_refused(times: Timetable):
    await times.put(every())
    instant = await times.make_due()
    due = await times.due_one()
    stale = firing(due, [(A, instant - PERIOD_MS), (B, instant)])
    await times.look.do("HSET", times.look.keys.scheduler("s1"), "last", instant - PERIOD_MS)

    (fired,) = await times.store.fire([stale])
    assert words(fired) == [DONE, FIRED]
    assert await times.jobs() == [B]


async def test_an_id_that_is_taken_stops_the_whole_scheduler_and_no_other(
    times: Timetable, queue: QueueStore
):
    await enqueue(queue, A)
    await times.put(every("s1", misfire="all"))
    await times.put(every("s2"))
    for name in ("s1", "s2"):
        await times.make_due(name)
    one, two = (await times.due()).schedulers
    instant = one.next_ms or 0
    taken = firing(one, [(B, instant - 1), (A, instant)])
    other = firing(two, [(C, instant)])

    fired = await times.store.fire([taken, other])
    assert [(each.name, each.whole) for each in fired] == [
        (one.name, Whole.ID_TAKEN),
        (two.name, Whole.OK),
    ]
    assert await times.jobs() == [A, C]
    assert [each.name for each in (await times.due()).schedulers] == [one.name]


async def test_one_id_for_two_schedulers_is_taken_for_the_second(times: Timetable):
    for name in ("s1", "s2"):
        await times.put(every(name))
        await times.make_due(name)
    both = [firing(one, [(A, one.next_ms or 0)]) for one in (await times.due()).schedulers]

    assert [each.whole for each in await times.store.fire(both)] == [Whole.OK, Whole.ID_TAKEN]


@pytest.mark.parametrize("said", ["paused", "changed", "removed"])
async def test_what_has_changed_since_it_was_read_does_not_fire(times: Timetable, said: str):
    await times.put(every())
    await times.make_due()
    plan = await times.plan(await times.due())
    if said == "paused":
        await times.store.pause("s1")
    elif said == "changed":
        await times.put(every(template=Template(name="other")))
    else:
        await times.store.remove("s1")

    assert [each.whole for each in await times.store.fire(plan)] == [Whole.TAKEN]
    assert await times.jobs() == []


async def test_an_occurrence_is_skipped_while_its_predecessor_waits_or_runs(
    times: Timetable, line: Line
):
    await times.put(every(overlap="skip"))
    await times.make_due()
    assert await times.fire_one() == [FIRED]

    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    held = await claim_one(line)
    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    await settle(line, held, Retried(3_600_000, "later"))
    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    view = await times.view()
    assert (view.count, view.skipped, len(view.runs)) == (1, 3, 1)


@pytest.mark.parametrize("outcome", [Completed(), Buried("no")])
async def test_an_occurrence_fires_when_its_predecessor_has_ended(
    times: Timetable, line: Line, outcome: Completed | Buried
):
    await times.put(every(overlap="skip"))
    await times.make_due()
    await times.fire_due()
    await settle(line, await claim_one(line), outcome)

    await times.make_due()
    assert await times.fire_one() == [FIRED]


@pytest.mark.parametrize("policy", ["skip", "queue-one"])
@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_new_overlap_policy_sees_the_jobs_from_before(
    times: Timetable, line: Line, policy: str, *, by_hand: bool
):
    await times.put(every())
    await times.make_due()
    await times.fire_due()
    held = await claim_one(line)
    await times.put(every(overlap=policy))
    if by_hand:
        await times.store.trigger("s1", A)
        await settle(line, await claim_one(line), Completed())

    await times.make_due()
    assert await times.fire_one() == [SKIPPED if policy == "skip" else HELD]
    await settle(line, held, Completed())
    if policy == "skip":
        await times.make_due()
    assert await times.fire_one() == [FIRED]


async def test_of_missed_ones_that_may_not_overlap_one_fires(times: Timetable):
    await times.put(every(overlap="skip", misfire="all"))
    await times.make_due(periods=3)

    assert await times.fire_one() == [FIRED, SKIPPED, SKIPPED]


async def test_one_occurrence_is_kept_back_until_its_predecessor_ends(times: Timetable, line: Line):
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    instant = await times.make_due()
    assert await times.fire_one() == [HELD]
    view = await times.view()
    assert (view.held_ms, view.skipped, view.count) == (instant, 0, 1)
    assert (await times.due()).schedulers == ()

    await settle(line, await claim_one(line), Completed())
    assert await times.fire_one() == [FIRED]
    view = await times.view()
    assert (view.held_ms, view.count) == (None, 2)
    assert view.runs[-1].instant_ms == instant
    assert view.next_ms == instant + PERIOD_MS


async def test_the_newest_is_kept_back_and_the_older_one_counts_as_skipped(times: Timetable):
    await times.put(every(overlap="queue-one", misfire="all"))
    await times.make_due(periods=3)
    assert await times.fire_one() == [FIRED, HELD, HELD]

    view = await times.view()
    assert (view.held_ms, view.skipped) == (view.last_ms, 1)


async def test_what_is_kept_back_is_looked_at_again_though_nobody_says_that_it_may_fire(
    times: Timetable, look: Look
):
    """A peer that ends the predecessor tells us nothing."""
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    await times.fire_due()

    wakes = (await look.scores(look.keys.schedulers))["s1"]
    assert wakes - await times.store.now_ms() <= 10_000


async def test_what_is_kept_back_fires_once(times: Timetable, line: Line):
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    await times.fire_due()
    await settle(line, await claim_one(line), Completed())
    due = await times.due()
    first, second = await times.plan(due), await times.plan(due)

    assert [words(each) for each in await times.store.fire(first)] == [[FIRED]]
    assert [words(each) for each in await times.store.fire(second)] == [[DONE]]
    assert [words(each) for each in await times.store.fire(first)] in ([[DONE]], [[]])
    assert len(await times.jobs()) == 1
    assert (await times.view()).count == 2


async def test_what_is_kept_back_fires_also_after_the_last_occurrence(times: Timetable, line: Line):
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    due = await times.due_one()
    last = firing(due, [(A, due.next_ms or 0)], next_ms=None, wake_ms=None, ended="end")
    assert [words(each) for each in await times.store.fire([last])] == [[HELD]]
    assert (await times.view()).state is SchedulerState.WAITING

    await settle(line, await claim_one(line), Completed())
    assert await times.fire_one() == [FIRED]
    assert (await times.view()).state is SchedulerState.ENDED


async def test_a_policy_that_allows_overlaps_fires_what_was_kept_back(times: Timetable):
    await times.put(every(overlap="queue-one", misfire="all"))
    await times.make_due(periods=2)
    assert await times.fire_one() == [FIRED, HELD]

    await times.put(every())
    await times.look.do("ZADD", times.look.keys.schedulers, 1, "s1")
    assert await times.fire_one() == [FIRED]
    view = await times.view()
    assert (view.held_ms, view.count, len(await times.jobs())) == (None, 2, 2)


async def test_a_limit_ends_it(times: Timetable, look: Look):
    await times.put(every(limit=2, misfire="all"))
    await times.make_due(periods=3)

    assert await times.fire_one() == [FIRED, FIRED]
    view = await times.view()
    assert (view.state, view.ended, view.next_ms) == (SchedulerState.ENDED, "limit", None)
    assert await look.do("ZSCORE", look.keys.schedulers, "s1") == b"inf"


async def test_the_last_ten_occurrences_are_remembered(times: Timetable, look: Look):
    await times.put(every(misfire="all(max=13)"))
    await times.make_due(periods=13)
    await times.fire_due()
    await look.do("ZADD", look.keys.schedulers, 1, "s1")
    due = await times.due_one()
    await times.store.fire([firing(due, [(A, due.next_ms or 0)])])

    view = await times.view()
    assert len(view.runs) == 10
    assert (view.runs[-1].job_id, view.runs[-1].instant_ms) == (A, due.next_ms)
    stored = await look.hash(look.keys.scheduler("s1"))
    assert {field for field in stored if field.startswith("run:")} == {
        f"run:{run.instant_ms}" for run in view.runs
    }


async def test_an_occurrence_is_told_how_its_job_ended(times: Timetable, line: Line):
    await times.put(every(misfire="all"))
    await times.make_due(periods=3)
    await times.fire_due()
    first, second, third = await claim(line, 3)
    await settle(line, first, Completed())
    await settle(line, second, Buried("no"))

    runs: tuple[RunNote, ...] = (await times.view()).runs
    assert [(run.job_id, run.outcome) for run in runs] == [
        (first.id, "completed"),
        (second.id, "dead"),
        (third.id, "fired"),
    ]


async def test_jobs_of_schedulers_are_in_the_log(server_url: str, times: Timetable, look: Look):
    times.store._log_size = 100
    await times.put(every())
    await times.make_due()
    await times.fire_due()
    await times.store.trigger("s1", A)

    events = [fields[1] for _, fields in await look.do("XRANGE", look.keys.log, "-", "+")]
    assert events == [b"enqueued", b"enqueued"]


async def test_due_are_at_most_as_many_as_asked_for_and_the_longest_due_first(times: Timetable):
    for number in range(4):
        await times.put(every(f"s{number}"))
        await times.make_due(f"s{number}", periods=number + 1)

    due = await times.store.due(3)
    assert [one.name for one in due.schedulers] == ["s3", "s2", "s1"]
    assert due.next_ms is None
    assert (await times.store.due(9_999)).schedulers[3].name == "s0"


async def test_a_zone_that_is_not_known_here_is_no_damage(times: Timetable, look: Look):
    await times.put(cron("0 9 * * *", tz="Europe/Berlin"))
    await look.do("HSET", look.keys.scheduler("s1"), "zone", "Europe/Atlantis")
    await times.set_next("s1", 1_000_000_000_000)

    one = await times.due_one()
    assert (one.spec, one.is_corrupt) == (None, False)
    assert "Europe/Atlantis" in one.problem
    assert not await times.store.set_aside("s1", "no")
    assert (await times.view()).state is SchedulerState.WAITING


async def test_a_call_takes_so_many_payload_bytes_and_leaves_the_rest_due(times: Timetable):
    large = Template(name="report", payload=bytes(5 << 20))
    for name in ("s1", "s2", "s3"):
        await times.put(every(name, template=large))
        await times.make_due(name)

    assert [each.whole for each in await times.fire_due()] == [
        Whole.OK,
        Whole.LATER,
        Whole.LATER,
    ]
    assert len((await times.due()).schedulers) == 2
    assert [each.whole for each in await times.fire_due()] == [Whole.OK, Whole.LATER]


@pytest.mark.slow
async def test_ten_thousand_at_midnight_are_twenty_looks(times: Timetable, look: Look):
    await times.put(every("s0"))
    instant = await times.make_due("s0")
    row = await look.do("HGETALL", look.keys.scheduler("s0"))
    pipe = look.client.pipeline(transaction=False)
    for number in range(1, 10_000):
        pipe.execute_command("HSET", look.keys.scheduler(f"s{number}"), *row)
        pipe.execute_command("ZADD", look.keys.schedulers, instant, f"s{number}")
    await pipe.execute()

    looks = 0
    fired: list[Fired] = []
    while plan := await times.plan(await times.due()):
        fired += await times.store.fire(plan)
        looks += 1
    assert looks == 10_000 // FIRED_AT_ONCE
    assert {each.whole for each in fired} == {Whole.OK}
    assert len({each.name for each in fired}) == len(fired) == 10_000
    assert await look.do("ZCARD", look.keys.pending) == 10_000
    assert await look.do("ZCOUNT", look.keys.schedulers, instant + 1, "+inf") == 10_000
    await look.do("UNLINK", *await look.key_names())


@pytest.mark.parametrize(
    "rest",
    [
        ["s1", "", "d"],
        ["s1", "", "d", "", "", "", "", 0, 1, "JOB00000000001"],
        ["s1", "", "d", "", "", "", "", 0, 1, "no id", 5],
        ["s1", "", "d", "", "", "", "", 0, 1, "JOB00000000001", ""],
        ["s1", "", "d", "", "", "", "", 0, 1, "JOB00000000001", "soon"],
        ["s1", "-1", "d", "", "", "", "", 0, 0],
        ["s1", "1e3", "d", "", "", "", "", 0, 0],
        ["s1", "", "d", "", "", "", "", -1, 0],
        ["s1", "", "d", "", "", "", "", 0, -1],
        ["s1", "", "d", "", "", "", "", 0, 1_000_000],
        ["s1", "", "d", "", "", "", "", 0, 0] * 501,
    ],
    ids=lambda rest: " ".join(map(str, rest[:12])),
)
async def test_a_call_that_is_malformed_anywhere_is_refused_whole(
    times: Timetable, look: Look, rest: list[str | int]
):
    await times.put(every())
    await times.make_due()
    good = firing_operands(await times.plan(await times.due()))
    before = await look.dumps()

    with pytest.raises(InvalidArgumentError, match="EMQARG firing"):
        await times.store._calls.ask("fire", {"log_size": 0}, [*good, *rest])
    assert await look.dumps() == before


async def test_more_occurrences_than_a_call_can_take_are_sent_in_several(times: Timetable):
    for number in range(11):
        await times.put(every(f"s{number}", misfire="all(max=100)"))
        await times.make_due(f"s{number}", periods=100)

    fired = await times.fire_due()
    assert [len(each.verdicts) for each in fired] == [100] * 11
    assert len(await times.jobs()) == 1_100


async def test_the_hand_of_a_scheduler_without_a_further_instant_needs_no_memory(
    times: Timetable,
):
    """A firing may have no occurrence: all were dropped by the misfire policy."""
    await times.put(every(misfire="none"))
    await times.make_due(periods=3)
    due = await times.due()
    (plan,) = await times.plan(due)
    dropped = replace(plan, occurrences=(), missed=3)

    (fired,) = await times.store.fire([dropped])
    assert (fired.whole, fired.verdicts) == (Whole.OK, ())
    view = await times.view()
    assert (view.missed, view.count, view.runs) == (3, 0, ())
