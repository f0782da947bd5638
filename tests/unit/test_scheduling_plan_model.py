from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.scheduling.misfire import Misfire
from echomq_worker.domain.scheduling.overlap import Overlap
from echomq_worker.domain.scheduling.plan import Plan, plan_firing, wake_ms
from echomq_worker.domain.scheduling.rule import Every
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from tests.unit.scheduling_fakes import START, TEMPLATE

MISFIRES = st.one_of(
    st.builds(Misfire, st.just("all"), st.integers(1, 12), st.none() | st.integers(1, 9_000)),
    st.builds(
        Misfire, st.sampled_from(["latest", "none"]), within_ms=st.none() | st.integers(1, 99_000)
    ),
)


def simply_planned(made: SchedulerSpec, next_ms: int, now_ms: int, count: int) -> Plan:
    """The same decision by going through every instant."""
    end_ms = made.end_ms if made.end_ms is not None else 10**15
    due: list[int] = []
    instant = next_ms
    while instant <= end_ms and wake_ms(made, instant) <= now_ms:
        due.append(instant)
        later = made.rule.next_ms(instant)
        assert later is not None
        instant = later
    bound = made.misfire.latest_by_ms
    young = [one for one in due if bound is None or now_ms - wake_ms(made, one) <= bound]
    while young and any(one not in young for one in due[due.index(young[0]) :]):
        young.pop(0)
    taken = young[-made.misfire.taken :]
    missed = len([one for one in due if not taken or one < taken[0]])
    left = 10**9 if made.limit is None else made.limit - count
    if made.overlap is Overlap.ALLOW and len(taken) >= left:
        return Plan(tuple(taken[:left]), missed, None, None, "limit")
    if instant > end_ms:
        return Plan(tuple(taken), missed, None, None, "end")
    return Plan(tuple(taken), missed, instant, wake_ms(made, instant))


@st.composite
def schedulers(draw: st.DrawFn) -> SchedulerSpec:
    period = draw(st.integers(100, 3_000))
    limit = draw(st.none() | st.integers(3, 20))
    end = draw(st.none() | st.integers(START, START + 120_000))
    return SchedulerSpec(
        name=draw(st.sampled_from("abc")),
        rule=Every(period, draw(st.integers(0, period - 1))),
        template=TEMPLATE,
        end_ms=end,
        limit=limit,
        jitter_ms=draw(st.just(0) | st.integers(0, period - 1)),
        misfire=draw(MISFIRES),
        overlap=draw(st.sampled_from(Overlap)),
    )


@given(
    made=schedulers(),
    beside=st.integers(0, 99),
    late=st.integers(-3_000, 120_000),
    count=st.integers(0, 2),
)
def test_a_plan_is_what_going_through_every_instant_would_find(
    made: SchedulerSpec, beside: int, late: int, count: int
):
    first = made.rule.next_ms(START)
    assert first is not None
    first -= beside
    planned = plan_firing(made, next_ms=first, now_ms=first + late, count=count)
    assert planned == simply_planned(made, first, first + late, count)
