"""What a firer does next, step by step, after what it has found and after what replies say."""

import random

import pytest

from echomq_worker.domain.job import Claimed
from echomq_worker.domain.minter import Minter
from echomq_worker.domain.scheduling.records import FIRED_AT_ONCE
from echomq_worker.worker.firer import FOR_EVER_MS, Firer
from echomq_worker.worker.outage import Outage
from echomq_worker.worker.schedule_lines import ScheduleLines
from echomq_worker.worker.stats import Stats
from echomq_worker.worker.volley import Volley
from tests.fakes import NOW_MS, FakeClock
from tests.unit.worker_fakes import FakeQueue
from tests.unit.worker_schedules import every

BEAT_MS = 1_000


class Bench:
    """A firer whose steps the test takes."""

    def __init__(self, *, repeats: bool = True) -> None:
        self.clock = FakeClock()
        self.queue = FakeQueue(self.clock)
        self.claims = 0
        volley = Volley(
            self.queue,
            mint=Minter(1, clock_ms=self.clock.now_ms, dice=random.randrange).mint,
            zone_data="2026b",
            repeats=repeats,
            clock=self.clock,
            lines=ScheduleLines(),
            stats=Stats(),
        )
        self.firer = Firer(
            volley,
            claim=self._claim,
            clock=self.clock,
            beat_ms=BEAT_MS,
            outage=Outage(self.clock, "server", lambda _low, high: high),
        )

    def hear(self, now: int, next_fire: int | None, *, watching: bool = True) -> None:
        """A reply; times are ms of the fake clock."""
        at_ms = None if next_fire is None else NOW_MS + next_fire
        claimed = Claimed(NOW_MS + now, next_due_ms=None, left=0, next_fire_ms=at_ms)
        self.firer.learn(claimed, watching=watching)

    def _claim(self) -> None:
        self.claims += 1


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_it_never_wakes_without_a_reason(bench: Bench):
    assert await bench.firer.step() == FOR_EVER_MS
    bench.hear(0, None)
    assert await bench.firer.step() == FOR_EVER_MS
    assert bench.queue.schedulers.calls == []


async def test_the_reply_to_a_settlement_says_nothing_about_schedulers(bench: Bench):
    bench.hear(0, 400)
    bench.firer.learn(Claimed(NOW_MS, next_due_ms=None, left=0), watching=None)
    assert await bench.firer.step() == 400


async def test_it_sleeps_as_long_as_the_servers_clock_says_whatever_ours_shows(bench: Bench):
    bench.hear(-90_000, -90_000 + 750)
    assert await bench.firer.step() == 750
    assert bench.queue.schedulers.calls == []


async def test_a_reply_from_before_a_look_is_not_heard(bench: Bench):
    bench.queue.schedulers.add(every(500))
    bench.clock.ms = 500
    bench.hear(500, 500)
    assert await bench.firer.step() == 500
    bench.hear(499, 500)  # sent before the look, and received after it
    assert await bench.firer.step() == 500
    bench.hear(499, None)
    assert await bench.firer.step() == 500
    assert bench.queue.schedulers.kinds() == ["due", "fire"]
    assert bench.claims == 1


async def test_a_clock_of_the_server_that_was_set_back_is_believed(bench: Bench):
    bench.queue.schedulers.add(every(500))
    bench.clock.ms = 500
    bench.hear(500, 500)
    await bench.firer.step()
    bench.hear(500 - 3_600_000, 500 - 3_600_000 + 80)
    assert await bench.firer.step() == 80


async def test_while_what_it_looked_at_is_being_fired_it_looks_at_nothing_else(bench: Bench):
    bench.queue.schedulers.add(every(500))
    bench.clock.ms = 510
    bench.hear(510, 500)
    step = bench.firer.step()

    async def reply() -> None:
        bench.hear(515, 500)

    bench.queue.schedulers.on_fire = reply
    assert await step == 490
    assert bench.queue.schedulers.kinds() == ["due", "fire"]


async def test_one_that_became_due_in_the_millisecond_of_a_look_is_not_missed(bench: Bench):
    bench.queue.schedulers.add(every(500))
    bench.clock.ms = 500
    bench.hear(500, 500)
    await bench.firer.step()
    bench.queue.schedulers.add(every(60_000, "now"), next_ms=NOW_MS + 500)
    bench.hear(500, 500)
    await bench.firer.step()
    assert [name for name, _, _ in bench.queue.schedulers.made] == ["tick", "now"]


async def test_who_ceases_to_watch_sleeps(bench: Bench):
    bench.hear(0, 400)
    assert await bench.firer.step() == 400
    bench.hear(0, 400, watching=False)
    assert await bench.firer.step() == FOR_EVER_MS


async def test_it_asks_for_a_claim_also_when_others_have_fired_first(bench: Bench):
    bench.queue.schedulers.add(every(500))
    bench.clock.ms = 500
    bench.hear(500, 500)

    async def another() -> None:
        bench.queue.schedulers.stored["tick"].next_ms = NOW_MS + 1_000

    bench.queue.schedulers.on_fire = another
    await bench.firer.step()
    assert bench.queue.schedulers.made == []
    assert bench.claims == 1


async def after_a_look_at(bench: Bench, ms: int, *, watching: bool = True) -> int:
    """Look when the clock shows `ms`; how long it sleeps then."""
    bench.clock.ms = ms
    bench.hear(ms, ms - 3 * BEAT_MS, watching=watching)
    return await bench.firer.step()


async def test_what_it_had_to_leave_is_looked_at_again_after_a_beat(bench: Bench):
    bench.queue.schedulers.add(every(60_000), tz="2027a", next_ms=NOW_MS + 5_000)
    assert await after_a_look_at(bench, 5_000) == BEAT_MS


async def test_what_others_have_changed_meanwhile_is_looked_at_again_after_a_beat(bench: Bench):
    bench.queue.schedulers.add(every(60_000), next_ms=NOW_MS + 5_000)

    async def another() -> None:
        bench.queue.schedulers.stored["tick"].next_ms = NOW_MS + 65_000

    bench.queue.schedulers.on_fire = another
    assert await after_a_look_at(bench, 5_000) == BEAT_MS


async def test_what_is_left_to_a_peers_pump_costs_a_look_a_beat():
    bench = Bench(repeats=False)
    bench.queue.repeats.due["sweep"] = (NOW_MS + 4_000, 60_000)
    assert await after_a_look_at(bench, 5_000) == FOR_EVER_MS
    bench.hear(5_010, 4_000)
    assert await bench.firer.step() == BEAT_MS
    assert bench.queue.schedulers.kinds() == ["due"]


async def test_one_that_does_not_watch_plans_no_look_of_its_own(bench: Bench):
    bench.queue.schedulers.add(every(1_000))
    assert await after_a_look_at(bench, 5_000, watching=False) == FOR_EVER_MS
    assert len(bench.queue.schedulers.made) == 1


def leave(bench: Bench, count: int) -> None:
    """Add schedulers that are due and have to stay, since newer zone data has timed them."""
    for number in range(count):
        bench.queue.schedulers.add(every(60_000, f"s{number}"), tz="2027a", next_ms=NOW_MS + 5_000)


async def test_a_full_batch_that_is_left_to_others_is_passed_over_once_a_beat(bench: Bench):
    leave(bench, FIRED_AT_ONCE)
    assert await after_a_look_at(bench, 5_000) == 0
    assert await bench.firer.step() == BEAT_MS
    assert bench.queue.schedulers.kinds() == ["due", "due"]


async def test_what_has_to_stay_hides_none_of_those_behind_it(bench: Bench):
    leave(bench, 2 * FIRED_AT_ONCE)
    bench.queue.schedulers.add(every(60_000, "tick"), next_ms=NOW_MS + 5_001)
    assert await after_a_look_at(bench, 5_001) == 0
    assert await bench.firer.step() == 0
    await bench.firer.step()
    assert [name for name, _, _ in bench.queue.schedulers.made] == ["tick"]


async def test_a_registration_of_a_peer_fires_also_while_there_are_schedulers_to_fire(bench: Bench):
    bench.queue.schedulers.add(every(500), next_ms=NOW_MS + 5_000)
    bench.queue.repeats.due["sweep"] = (NOW_MS + 5_000, 60_000)
    await after_a_look_at(bench, 5_000)
    assert len(bench.queue.schedulers.made) == 1
    assert [name for name, _ in bench.queue.repeats.fired] == ["sweep"]


async def test_a_registration_that_is_not_due_costs_no_call(bench: Bench):
    bench.queue.schedulers.add(every(60_000), next_ms=NOW_MS + 5_000)
    bench.queue.repeats.due["sweep"] = (NOW_MS + 5_400, 60_000)
    assert await after_a_look_at(bench, 5_000) == 400
    assert bench.queue.repeats.calls == 0


async def test_what_did_not_fit_into_a_call_is_fired_at_once(bench: Bench):
    for name in ("one", "two"):
        bench.queue.schedulers.add(every(60_000, name), next_ms=NOW_MS + 5_000)
    bench.queue.schedulers.put_off = 1
    assert await after_a_look_at(bench, 5_000) == 0
    await bench.firer.step()
    assert sorted(name for name, _, _ in bench.queue.schedulers.made) == ["one", "two"]


async def test_no_call_has_more_occurrences_of_one_scheduler_than_the_server_takes(bench: Bench):
    spec = every(1_000, misfire="all(max=100)", overlap="queue-one")
    bench.queue.schedulers.add(spec, next_ms=NOW_MS - 300_000)
    bench.queue.schedulers.stored["tick"].held_ms = NOW_MS - 400_000
    await after_a_look_at(bench, 5_000)
    assert len(bench.queue.schedulers.made) == 100


async def test_a_full_batch_that_others_fire_is_not_fought_over(bench: Bench):
    for number in range(FIRED_AT_ONCE):
        bench.queue.schedulers.add(every(60_000, f"s{number}"), next_ms=NOW_MS + 5_000)

    async def another() -> None:
        for one in bench.queue.schedulers.stored.values():
            one.next_ms = NOW_MS + 65_000

    bench.queue.schedulers.on_fire = another
    assert await after_a_look_at(bench, 5_000) == BEAT_MS


async def test_one_that_cannot_be_read_here_is_looked_at_again_after_a_beat(bench: Bench):
    bench.queue.schedulers.add(every(60_000), next_ms=NOW_MS + 5_000)
    bench.queue.schedulers.stored["tick"].spec = None
    assert await after_a_look_at(bench, 5_000) == BEAT_MS
