"""How much of schedulers goes in one call, and what is refused."""

import pytest

from echomq_worker.domain.scheduling.records import (
    FIRED_AT_ONCE,
    Fired,
    Whole,
)
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.protocol.scheduler_replies import firing_operands
from echomq_worker.store import QueueStore
from tests.support.jobs import A
from tests.support.look import Look
from tests.support.schedulers import (
    Timetable,
    every,
    firing,
)


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


async def test_due_are_at_most_as_many_as_asked_for_and_the_longest_due_first(times: Timetable):
    for number in range(4):
        await times.put(every(f"s{number}"))
        await times.make_due(f"s{number}", periods=number + 1)

    due = await times.store.due(3)
    assert [one.name for one in due.schedulers] == ["s3", "s2", "s1"]
    assert due.next_ms is None
    assert (await times.store.due(9_999)).schedulers[3].name == "s0"


async def test_those_that_have_to_stay_can_be_passed_over(times: Timetable):
    for number in range(4):
        await times.put(every(f"s{number}"))
        await times.make_due(f"s{number}", periods=number + 1)

    due = await times.store.due(2, offset=1)
    assert [one.name for one in due.schedulers] == ["s2", "s1"]


async def test_a_look_tells_when_the_first_registration_of_a_peer_is_due(
    times: Timetable, queue: QueueStore
):
    assert (await times.store.due()).repeat_ms is None
    await queue.repeats.register("sweep", every_ms=60_000, template=b"tick", first_in_ms=60_000)

    due = await times.store.due()
    assert due.repeat_ms is not None
    assert 0 < due.repeat_ms - due.now_ms <= 60_001  # a delay counts from the end of a ms


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


async def test_what_does_not_fit_into_a_call_is_not_even_read(times: Timetable):
    large = Template(name="report", payload=bytes(1 << 20))
    for number in range(5):
        await times.put(every(f"s{number}", template=large))
        await times.make_due(f"s{number}")
    plan = await times.plan(await times.due())
    await times.store.remove(plan[-1].name)

    answers = await times.store.fire(plan)

    # One that was read would be told apart: it is gone.
    assert [each.whole for each in answers] == [Whole.OK] * 2 + [Whole.LATER] * 3
