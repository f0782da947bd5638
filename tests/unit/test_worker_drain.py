"""What a worker that stops leaves to others, and what it does not leave behind."""

import asyncio

from echomq_worker.errors import UnavailableError
from tests.fakes import settled
from tests.unit.worker_rig import Rig


def blocked(rig: Rig) -> asyncio.Event:
    gate = asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    rig.queue.add()
    return gate


async def test_a_draining_watcher_gives_up_the_watch_and_renews_it_no_more():
    rig = Rig()
    gate = blocked(rig)
    async with rig.running():
        await rig.clock.advance(1_000)
        assert rig.queue.watch_renewals == [(0, 3_000), (1_000, 3_000)]
        rig.stop.drain("SIGTERM")
        await settled()
        assert rig.queue.left == [rig.options.worker_id]
        await rig.clock.advance(5_000)
        renewals = rig.queue.watch_renewals[2:]
        assert len(renewals) >= 5
        assert {watch_ms for _, watch_ms in renewals} == {0}
        gate.set()


async def test_giving_up_the_watch_it_says_at_once_that_it_still_lives():
    rig = Rig()
    gate = blocked(rig)
    async with rig.running():
        await rig.clock.advance(1_500)
        rig.stop.drain("SIGTERM")
        await settled()
        assert rig.queue.calls[-1].at_ms == 1_500
        assert rig.queue.presences[-1].fields["state"] == "draining"
        gate.set()


async def test_a_server_that_is_away_does_not_hold_up_the_drain():
    rig = Rig()
    gate = blocked(rig)

    async def leave(worker_id: str) -> None:
        assert worker_id
        await rig.clock.sleep_ms(5_000)
        msg = "gone"
        raise UnavailableError(msg)

    rig.queue.leave = leave
    async with rig.running():
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(1_000)
        gate.set()
        await rig.clock.advance(1_000)
        assert (await rig.ended()).seconds == 2


async def test_without_time_to_cancel_a_call_on_its_way_is_awaited_all_the_same():
    rig = Rig(cancel_grace_ms=0)

    async def work() -> None: ...

    rig.handle(work)
    async with rig.running():
        rig.queue.gate = asyncio.Event()
        job = rig.queue.enqueue()
        await settled()
        assert job in rig.queue.active
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(900)
        rig.queue.gate.set()
        status = await rig.ended()
        assert (status.code, status.stats.returned) == (0, 1)
        assert not rig.queue.active


async def test_a_call_on_its_way_is_awaited_for_a_second_and_no_longer_than_the_budget():
    for budget_ms, waited in ((25_000, 1), (400, 0.4)):
        rig = Rig(shutdown_timeout_ms=budget_ms, cancel_grace_ms=0)
        async with rig.running():
            rig.queue.away = UnavailableError("gone")
            await rig.clock.advance(1_500)
            rig.stop.drain("SIGTERM")
            await rig.clock.advance(2_000)
            assert (await rig.ended()).seconds == waited
