"""What becomes of the instants of a scheduler when newer zone data move them."""

from echomq_worker.domain.cron import CronRule, cron_rule
from echomq_worker.domain.scheduling.spec import scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from tests.fakes import NOW_MS
from tests.unit.worker_rig import Rig

HOUR_MS = 3_600_000
BERLIN = "Europe/Berlin"


def in_berlin(rig: Rig, name: str, *, tz: str, next_ms: int) -> None:
    spec = scheduler_spec(name, template=Template(name="work"), cron="0 9 * * *", tz=BERLIN)
    rig.queue.schedulers.add(spec, tz=tz, next_ms=next_ms)


def next_of(rule: CronRule, after_ms: int) -> int:
    instant = rule.next_ms(after_ms)
    assert instant is not None
    return instant


async def test_what_newer_zone_data_move_into_the_past_is_not_lost():
    rig = Rig()
    rule = cron_rule("0 9 * * *", tz=BERLIN)
    today_ms = next_of(rule, NOW_MS)
    await rig.clock.advance(today_ms - NOW_MS + HOUR_MS // 2)
    in_berlin(rig, "stale", tz="2025a", next_ms=today_ms + HOUR_MS)
    in_berlin(rig, "done", tz="2025a", next_ms=today_ms + HOUR_MS)
    in_berlin(rig, "resumed", tz="2025a", next_ms=today_ms + HOUR_MS)
    stored = rig.queue.schedulers.stored
    stored["stale"].last_ms = today_ms - 23 * HOUR_MS
    stored["done"].last_ms = today_ms
    stored["resumed"].last_ms = today_ms - 23 * HOUR_MS
    stored["resumed"].since_ms = today_ms + 5
    async with rig.running():
        await rig.clock.advance(1_000)
        made = [(name, instant) for name, instant, _ in rig.queue.schedulers.made]
        assert made == [("stale", today_ms)]
        assert {one.next_ms for one in stored.values()} == {next_of(rule, today_ms)}


async def test_an_instant_that_is_none_by_newer_zone_data_is_moved_and_not_fired():
    rig = Rig()
    rule = cron_rule("0 9 * * *", tz=BERLIN)
    today_ms = next_of(rule, NOW_MS)
    await rig.clock.advance(today_ms - NOW_MS - HOUR_MS)
    in_berlin(rig, "stale", tz="2025a", next_ms=today_ms - HOUR_MS)
    in_berlin(rig, "at-once", tz="2025a", next_ms=today_ms - HOUR_MS)
    stored = rig.queue.schedulers.stored
    stored["stale"].since_ms = today_ms - 20 * HOUR_MS
    stored["at-once"].since_ms = today_ms - HOUR_MS
    async with rig.running():
        await rig.clock.advance(1_000)
        assert [name for name, _, _ in rig.queue.schedulers.made] == ["at-once"]
        assert (stored["stale"].next_ms, stored["stale"].tz) == (today_ms, "2026b")
