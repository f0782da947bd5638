"""What a firer makes of replies that come late, or from a server whose clock was set back."""

import random

import pytest

from echomq_worker.domain.job import Claimed
from echomq_worker.domain.minter import Minter
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

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.queue = FakeQueue(self.clock)
        self.claims = 0
        volley = Volley(
            self.queue,
            mint=Minter(1, clock_ms=self.clock.now_ms, dice=random.randrange).mint,
            zone_data="2026b",
            repeats=True,
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
