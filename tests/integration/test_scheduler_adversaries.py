"""Calls about schedulers whose answer is lost, and calls that come late: nothing happens twice."""

from collections.abc import Awaitable, Callable

import pytest

from echomq_worker.domain.job import Admission
from echomq_worker.domain.outcome import Completed
from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerState, Whole
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import UnavailableError
from echomq_worker.store.line import Line
from tests.support.cut_wire import Fault
from tests.support.jobs import A, B, claim_one, settle
from tests.support.schedulers import CutTimes, Timetable, every, words

OTHER = every(template=Template(name="other"))
Act = Callable[[Timetable], Awaitable[object]]


async def begin_paused(times: Timetable) -> None:
    await times.put(every())
    await times.store.pause("s1", reason="before")


async def begin_waiting(times: Timetable) -> None:
    await times.put(every())


async def begin_due(times: Timetable) -> None:
    await times.put(every())
    await times.make_due()


async def nothing(times: Timetable) -> None:
    """Begin with an empty queue."""


async def remove_and_declare(times: Timetable) -> None:
    await times.store.remove("s1")
    await times.put(every())


CALLS: dict[str, tuple[Act, str, Act, object]] = {
    "create": (nothing, "put_scheduler", lambda t: t.put(every()), PutVerdict.CREATED),
    "change": (begin_waiting, "put_scheduler", lambda t: t.put(OTHER), PutVerdict.CHANGED),
    "replace": (
        begin_waiting,
        "put_scheduler",
        lambda t: t.put(every(period_ms=60_000), force=True),
        PutVerdict.RETIMED,
    ),
    "pause": (begin_waiting, "pause_scheduler", lambda t: t.store.pause("s1"), True),
    "resume": (begin_paused, "resume_scheduler", lambda t: t.store.resume("s1"), True),
    "remove": (begin_waiting, "remove_scheduler", lambda t: t.store.remove("s1"), True),
    "trigger": (
        begin_waiting,
        "trigger_scheduler",
        lambda t: t.store.trigger("s1", A),
        Admission.ENQUEUED,
    ),
}
ALL = pytest.mark.parametrize("name", CALLS)


@ALL
@pytest.mark.parametrize("fault", [Fault.LOST, Fault.UNANSWERED])
async def test_a_call_without_an_answer_is_asked_again_and_done_once(
    times: Timetable, cut: CutTimes, name: str, fault: Fault
):
    begin, script, call, answer = CALLS[name]
    await begin(times)
    cut.wire.only = script
    cut.wire.next_calls(fault, fault)

    assert await call(cut.times) == answer
    assert len(await times.jobs()) == (1 if name == "trigger" else 0)
    if name == "trigger":
        assert len((await times.view()).runs) == 1


UNDO: dict[str, Act] = {
    "create": lambda t: t.store.remove("s1"),
    "change": lambda t: t.put(every(), force=True),
    "replace": lambda t: t.put(every(), force=True),
    "pause": lambda t: t.store.resume("s1"),
    "resume": lambda t: t.store.pause("s1", reason="again"),
    "remove": lambda t: t.put(every()),
    "trigger": lambda t: t.store.trigger("s1", B),
}


@ALL
async def test_an_original_that_comes_late_does_not_undo_what_others_did_since(
    times: Timetable, cut: CutTimes, line: Line, name: str
):
    begin, script, call, answer = CALLS[name]
    await begin(times)
    cut.wire.only = script
    cut.wire.next_calls(Fault.LATE)
    assert await call(cut.times) == answer
    if name == "trigger":
        await settle(line, await claim_one(line), Completed())
    await UNDO[name](times)
    before = await times.look.dumps()

    await cut.wire.deliver_late()
    assert await times.look.dumps() == before


@ALL
async def test_an_original_that_comes_late_does_nothing_to_a_scheduler_declared_anew(
    times: Timetable, cut: CutTimes, name: str
):
    begin, script, call, _ = CALLS[name]
    await begin(times)
    cut.wire.only = script
    cut.wire.next_calls(Fault.LATE)
    await call(cut.times)
    await remove_and_declare(times)
    before = await times.look.dumps()

    await cut.wire.deliver_late()
    assert await times.look.dumps() == before


async def test_a_call_that_was_given_up_comes_before_the_next_one_or_not_at_all(
    times: Timetable, cut: CutTimes
):
    await begin_waiting(times)
    cut.wire.only = "pause_scheduler"
    cut.wire.next_calls(*[Fault.LATE] * 3)
    with pytest.raises(UnavailableError):
        await cut.times.store.pause("s1")
    assert (await times.view()).state is SchedulerState.WAITING

    await cut.times.store.remove("s1")
    await times.put(every())
    said = await cut.wire.deliver_late()
    assert [str(each).split()[0] for each in said] == ["EMQLATE"] * 3
    assert (await times.view()).state is SchedulerState.WAITING


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.UNANSWERED, Fault.LATE])
async def test_firing_without_an_answer_makes_each_job_once(
    times: Timetable, cut: CutTimes, fault: Fault
):
    await begin_due(times)
    plan = await times.plan(await times.due())
    cut.wire.only = "fire"
    cut.wire.next_calls(fault)

    (fired,) = await cut.times.store.fire(plan)
    expected = Whole.TAKEN if fault is Fault.UNANSWERED else Whole.OK
    assert fired.whole is expected
    await cut.wire.deliver_late()
    assert await times.jobs() == [plan[0].occurrences[0][0]]
    assert (await times.view()).count == 1


async def test_a_firing_that_comes_late_makes_no_second_job_when_the_first_is_gone(
    times: Timetable, cut: CutTimes, line: Line
):
    await begin_due(times)
    plan = await times.plan(await times.due())
    cut.wire.only = "fire"
    cut.wire.next_calls(Fault.LATE)
    await cut.times.store.fire(plan)
    await settle(line, await claim_one(line), Completed())
    before = await times.look.dumps()

    (said,) = await cut.wire.deliver_late()
    assert said == [b"x"]
    assert await times.look.dumps() == before


@pytest.mark.parametrize("policy", ["skip", "queue-one"])
async def test_an_occurrence_that_was_skipped_or_kept_back_is_so_once(
    times: Timetable, cut: CutTimes, policy: str
):
    await times.put(every(overlap=policy))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    plan = await times.plan(await times.due())
    cut.wire.only = "fire"
    cut.wire.next_calls(Fault.UNANSWERED)
    await cut.times.store.fire(plan)

    view = await times.view()
    assert view.skipped == (1 if policy == "skip" else 0)
    assert len(await times.jobs()) == 1


async def test_what_was_kept_back_is_not_fired_again_by_a_call_that_comes_late(
    times: Timetable, cut: CutTimes, line: Line
):
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    await times.fire_due()
    await settle(line, await claim_one(line), Completed())
    plan = await times.plan(await times.due())
    cut.wire.only = "fire"
    cut.wire.next_calls(Fault.LATE)
    (fired,) = await cut.times.store.fire(plan)
    assert words(fired) == ["fired"]
    await settle(line, await claim_one(line), Completed())

    assert await cut.wire.deliver_late() == [[b"d"]]
    assert await times.jobs() == []
    assert (await times.view()).count == 2


async def test_a_firing_from_before_a_pause_finds_nothing_after_it(times: Timetable, cut: CutTimes):
    await begin_due(times)
    plan = await times.plan(await times.due())
    await times.store.pause("s1")
    await times.store.resume("s1")

    (fired,) = await cut.times.store.fire(plan)
    assert fired.whole is Whole.TAKEN
    assert await times.jobs() == []


async def test_a_worker_of_older_code_that_comes_late_does_not_bring_its_declaration_back(
    times: Timetable, cut: CutTimes
):
    """Its call is the first it has ever made, so that only what is stored can refuse it."""
    await begin_waiting(times)
    await times.put(OTHER)
    cut.wire.only = "put_scheduler"
    cut.wire.next_calls(*[Fault.LATE] * 3)
    with pytest.raises(UnavailableError):
        await cut.times.put(every())

    await cut.wire.deliver_late()
    assert (await times.view()).spec == OTHER


async def test_what_is_set_aside_twice_is_so_once(times: Timetable, cut: CutTimes):
    await times.put(every())
    await times.look.do("HSET", times.look.keys.scheduler("s1"), "every", "x")
    cut.wire.only = "aside_scheduler"
    cut.wire.next_calls(Fault.LATE, Fault.UNANSWERED)
    await cut.times.store.set_aside("s1", "broken")
    assert len(await times.look.quarantine()) == 1
    await times.put(every())

    await cut.wire.deliver_late()
    assert (await times.view()).state is SchedulerState.WAITING
    assert len(await times.look.quarantine()) == 1


async def test_put_looks_again_when_somebody_fires_meanwhile(times: Timetable, cut: CutTimes):
    """An instant later than ours has been fired between our look and our call."""
    await begin_waiting(times)
    far_ms = await times.store.now_ms() + 86_400_000

    async def fire_meanwhile() -> None:
        await times.look.do("HSET", times.look.keys.scheduler("s1"), "last", far_ms)

    cut.wire.only = "put_scheduler"
    cut.wire.meanwhile = fire_meanwhile
    cut.wire.next_calls(Fault.LOST)
    assert await cut.times.put(every(period_ms=60_000)) is PutVerdict.RETIMED
    next_ms = (await times.view()).next_ms
    assert next_ms is not None
    assert next_ms > far_ms


async def test_resume_looks_again_when_somebody_declares_meanwhile(times: Timetable, cut: CutTimes):
    await begin_paused(times)

    async def declare_meanwhile() -> None:
        await times.put(every(period_ms=7_200_000))

    cut.wire.only = "resume_scheduler"
    cut.wire.meanwhile = declare_meanwhile
    cut.wire.next_calls(Fault.LOST)
    assert await cut.times.store.resume("s1")
    view = await times.view()
    assert view.next_ms is not None
    assert view.next_ms % 7_200_000 == 0
