"""The watcher of a queue keeps the counts of its caps true."""

from structlog.testing import capture_logs

from echomq_worker.errors import UnavailableError
from tests.fakes import settled
from tests.unit.worker_rig import Rig

MINUTE_MS = 60_000


async def test_the_watcher_counts_once_a_minute_and_says_what_was_wrong():
    rig = Rig()
    rig.queue.watching = True
    rig.queue.gates.wrong = [0, 2]
    with capture_logs() as logs:
        async with rig.running():
            await settled()
            before = rig.queue.gates.recounts
            await rig.clock.advance(MINUTE_MS)
            await rig.clock.advance(MINUTE_MS)
            assert rig.queue.gates.recounts == before + 2
    (told,) = (line for line in logs if line["event"] == "slots.freed")
    assert (told["queue"], told["caps"]) == ("default", 2)


async def test_who_does_not_watch_does_not_count():
    rig = Rig()
    rig.queue.watching = False
    async with rig.running():
        await rig.clock.advance(3 * MINUTE_MS)
    assert rig.queue.gates.recounts == 0


async def test_a_server_that_is_away_is_asked_again_a_minute_later():
    rig = Rig()
    rig.queue.gates.away = [UnavailableError("gone")]
    rig.queue.gates.wrong = [1]
    with capture_logs() as logs:
        async with rig.running():
            await settled()
            await rig.clock.advance(MINUTE_MS)
            await rig.clock.advance(MINUTE_MS)
    assert [line["caps"] for line in logs if line["event"] == "slots.freed"] == [1]
