from structlog.testing import capture_logs

from echomq_worker.errors import OutOfMemoryError, UnavailableError
from echomq_worker.worker.outage import Outage
from tests.unit.client_fakes import StepClock

GONE = UnavailableError("gone")
FULL = OutOfMemoryError("full")


def highest(_: float, high: float) -> float:
    return high


def lowest(low: float, _: float) -> float:
    return low


async def test_the_wait_between_tries_doubles_up_to_half_a_second():
    clock = StepClock()
    outage = Outage(clock, "server", highest)
    with capture_logs():
        for tries in range(1, 9):
            await outage.trouble(GONE, tries)
        await outage.trouble(GONE, 10**6)
    assert clock.slept_ms == [50, 100, 200, 400, 500, 500, 500, 500, 500]


async def test_an_outage_is_told_at_its_start_and_at_its_end():
    outage = Outage(StepClock(), "server", highest)
    with capture_logs() as logs:
        for tries in range(1, 100):
            await outage.trouble(GONE, tries)
            assert outage.under_way
        outage.answered()
        outage.answered()
    assert [line["event"] for line in logs] == ["server.away", "server.back"]
    assert logs[1]["after"] > 45
    assert not outage.under_way


async def test_connections_that_break_and_are_mended_at_once_are_told_now_and_then():
    clock = StepClock()
    outage = Outage(clock, "server", highest)
    with capture_logs() as logs:
        for _ in range(300):
            await outage.trouble(GONE, 1)
            outage.answered()
    assert [line["event"] for line in logs] == ["server.reconnected"] * 2
    assert logs[1]["times"] == 200


async def test_the_dice_shorten_a_wait_to_half_of_it_at_most():
    clock = StepClock()
    outage = Outage(clock, "server", lowest)
    with capture_logs():
        await outage.trouble(GONE, 5)
    assert clock.slept_ms == [250]


async def test_a_full_server_is_called_full_at_once_and_counts_as_there():
    outage = Outage(StepClock(), "server", highest)
    with capture_logs() as logs:
        await outage.trouble(FULL, 1)
        assert not outage.under_way
        outage.answered()
    assert [line["event"] for line in logs] == ["server.full", "server.has_room"]


async def test_one_shortage_of_memory_with_answers_in_between_is_told_now_and_then():
    clock = StepClock()
    outage = Outage(clock, "server", highest)
    with capture_logs() as logs:
        for _ in range(300):
            await outage.trouble(FULL, 1)
            outage.answered()
    assert [line["event"] for line in logs] == ["server.full", "server.has_room"] * 2


async def test_a_server_that_comes_back_full_is_first_away_and_then_full():
    outage = Outage(StepClock(), "server", highest)
    with capture_logs() as logs:
        for tries in range(1, 4):
            await outage.trouble(GONE, tries)
        await outage.trouble(FULL, 4)
    assert [line["event"] for line in logs] == ["server.away", "server.back", "server.full"]
