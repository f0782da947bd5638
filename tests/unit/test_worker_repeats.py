"""What peers have registered to repeat fires as schedulers do; bursts fire what is due, and end."""

from structlog.testing import capture_logs

from echomq_worker.handlers import HandlerOptions, raw_handler
from tests.fakes import NOW_MS
from tests.unit.worker_rig import Rig, stamping
from tests.unit.worker_schedules import every


def stamping_raw(rig: Rig) -> list[int]:
    started: list[int] = []

    async def work(payload: bytes) -> None:
        assert payload
        started.append(rig.clock.ms)

    rig.registry.add(raw_handler(work, queue="default", options=HandlerOptions()))
    return started


async def test_a_registration_of_a_peer_fires_in_its_millisecond():
    rig = Rig()
    started = stamping_raw(rig)
    rig.queue.repeats.due["sweep"] = (NOW_MS + 400, 1_000)
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(3_000)
    assert started == [400, 1_400, 2_400]
    assert rig.parts.stats.fired == 3
    lines = [line for line in logs if line["event"] == "repeats.fired"]
    assert (lines[0]["registrations"], lines[0]["count"]) == (["sweep"], 1)


async def test_registrations_and_schedulers_are_on_time_beside_each_other():
    rig = Rig()
    started, ticks = stamping_raw(rig), stamping(rig)
    rig.queue.repeats.due["sweep"] = (NOW_MS + 300, 300)
    rig.queue.schedulers.add(every(200))
    async with rig.running():
        await rig.clock.advance(1_200)
    assert started == [300, 600, 900, 1_200]
    assert ticks == [200, 400, 600, 800, 1_000, 1_200]


async def test_where_a_peer_fires_its_registrations_ours_keep_their_hands_off():
    rig = Rig(fire_repeats=False)
    rig.queue.repeats.due["sweep"] = (NOW_MS + 300, 300)
    ticks = stamping(rig)
    rig.queue.schedulers.add(every(250))
    async with rig.running():
        await rig.clock.advance(1_000)
        assert rig.queue.repeats.calls == 0
        assert ticks == [250, 500, 750, 1_000]
        rig.queue.schedulers.calls.clear()
        rig.queue.schedulers.stored.clear()
        await rig.clock.advance(10_000)
        assert len(rig.queue.schedulers.calls) <= 11, "what a peer is late for costs a look a beat"


async def test_more_registrations_than_one_call_takes_fire_at_once():
    rig = Rig()
    started = stamping_raw(rig)
    for number in range(250):
        rig.queue.repeats.due[f"r{number}"] = (NOW_MS + 100, 10_000)
    async with rig.running():
        await rig.clock.advance(100)
        assert len(rig.queue.repeats.fired) == 250
    assert len(started) >= 4


async def test_a_burst_fires_what_is_due_runs_it_and_ends():
    rig = Rig()
    started = stamping(rig)
    for number in range(3):
        rig.queue.schedulers.add(every(60_000, f"s{number}"), next_ms=NOW_MS - 5)
    rig.queue.schedulers.add(every(60_000, "later"))
    async with rig.running(burst=True):
        await rig.clock.advance(5)
        assert (await rig.ended()).reason == "burst"
    assert started == [0, 0, 0]


async def test_a_burst_fires_for_peers_as_well():
    rig = Rig()
    started = stamping_raw(rig)
    rig.queue.repeats.due["sweep"] = (NOW_MS - 5, 1_000)
    async with rig.running(burst=True):
        await rig.clock.advance(5)
        await rig.ended()
    assert started == [0]


async def test_a_burst_that_is_not_the_watcher_leaves_what_has_just_become_due():
    rig = Rig()
    rig.queue.watching = False
    rig.queue.schedulers.add(every(60_000, "late"), next_ms=NOW_MS - 2_001)
    rig.queue.schedulers.add(every(60_000, "due"), next_ms=NOW_MS - 5)
    async with rig.running(burst=True):
        await rig.clock.advance(5)
        await rig.ended()
    assert [name for name, _, _ in rig.queue.schedulers.made] == ["late"]


async def test_a_burst_ends_although_something_is_left_to_others():
    rig = Rig()
    rig.zone_data = "2026a"
    rig.queue.schedulers.add(every(60_000), tz="2026b", next_ms=NOW_MS - 5)
    async with rig.running(burst=True):
        await rig.clock.advance(5)
        await rig.ended()
    assert rig.queue.schedulers.made == []
