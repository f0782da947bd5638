from structlog.testing import capture_logs

from echomq_worker.errors import UnavailableError
from echomq_worker.worker.outage import Outage
from tests.unit.client_fakes import StepClock

GONE = UnavailableError("gone")


async def test_the_wait_between_tries_doubles_up_to_a_second():
    clock = StepClock()
    outage = Outage(clock, "server")
    with capture_logs():
        for tries in range(1, 9):
            await outage.trouble(GONE, tries)
        await outage.trouble(GONE, 10**6)
    assert clock.slept_ms == [50, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000]


async def test_an_outage_is_told_at_its_start_and_at_its_end():
    outage = Outage(StepClock(), "server")
    with capture_logs() as logs:
        for tries in range(1, 100):
            await outage.trouble(GONE, tries)
            assert outage.under_way
        outage.answered()
        outage.answered()
    assert [line["event"] for line in logs] == ["server.away", "server.back"]
    assert logs[1]["after"] > 90
    assert not outage.under_way


async def test_connections_that_break_and_are_mended_at_once_are_told_now_and_then():
    clock = StepClock()
    outage = Outage(clock, "server")
    with capture_logs() as logs:
        for _ in range(300):
            await outage.trouble(GONE, 1)
            outage.answered()
    assert [line["event"] for line in logs] == ["server.reconnected"] * 2
    assert logs[1]["times"] == 200
