import asyncio

from structlog.testing import capture_logs

from echomq_worker.errors import UnavailableError
from echomq_worker.worker.dump import running_jobs
from tests.unit.worker_rig import Rig


async def test_the_heartbeat_tells_state_load_and_when_the_server_last_answered():
    rig = Rig(concurrency=3)
    async with rig.running():
        await rig.clock.advance(2_400)
        snapshot = rig.snapshots[-1]
        assert (snapshot.state, snapshot.running, snapshot.slots) == ("running", 0, 3)
        assert snapshot.answered_ms is not None
        assert snapshot.answered_ms <= 1_000
        assert len(rig.snapshots) == 3


async def test_the_heartbeat_tells_when_the_server_is_away():
    rig = Rig()
    async with rig.running():
        await rig.clock.advance(1_000)
        assert rig.snapshots[-1].server_up
        rig.queue.away = UnavailableError("gone")
        await rig.clock.advance(8_000)
        assert not rig.snapshots[-1].server_up
        assert rig.snapshots[-1].answered_ms == 8_000
        rig.queue.away = None
        await rig.clock.advance(2_000)
        assert rig.snapshots[-1].server_up


async def test_a_heartbeat_that_cannot_be_told_stops_no_job():
    rig = Rig()

    def broken(_: object) -> None:
        raise OSError

    async def work() -> None: ...

    rig.handle(work)
    rig.on_beat = broken
    with capture_logs() as logs:
        async with rig.running():
            rig.queue.enqueue()
            await rig.clock.advance(5_000)
            assert len(rig.queue.completed) == 1
    assert [line["event"] for line in logs].count("heartbeat.not_told") == 1


async def test_a_dump_says_which_job_waits_where():
    rig = Rig()

    async def work() -> None:
        await asyncio.Event().wait()

    rig.handle(work)
    job = rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            (said,) = running_jobs(rig.parts.hands)
            assert (said["job_id"], said["job_name"], said["cancelled"]) == (job, "work", None)
            assert any("in work" in frame for frame in said["at"])
            assert rig.daemon is not None
            rig.daemon.dump()
    assert "worker.dump" in [line["event"] for line in logs]
