"""A loop that stands still keeps its leases, until it has done so for too long."""

import asyncio
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest
import structlog
from structlog.testing import capture_logs
from structlog.typing import EventDict, Processor

from tests.fakes import settled
from tests.unit.worker_rig import Rig, wait_for


@contextmanager
def told_of(said: threading.Event, event: str) -> Generator[None]:
    """Set `said` as soon as a line of `event` is written, by whatever thread."""

    def look(_logger: object, _method: str, line: EventDict) -> EventDict:
        if line["event"] == event:
            said.set()
        return line

    processors: list[Processor] = structlog.get_config()["processors"]
    processors.insert(0, look)
    try:
        yield
    finally:
        processors.remove(look)


def blocking_until(holds: Callable[[], object]) -> None:
    """Hold up the loop until something holds that only a thread can bring about."""
    give_up = time.monotonic() + 5
    while not holds() and time.monotonic() < give_up:
        time.sleep(0.001)
    assert holds()


@pytest.mark.case("MX-F18-running")
async def test_a_loop_that_stands_still_for_too_long_loses_its_leases_until_it_turns_again():
    rig, counts = Rig(lease_ms=100, renew_ms=20, stuck_ms=301), dict[str, int]()
    calls = rig.extender.calls
    let_go = threading.Event()

    async def work() -> None:
        before = len(calls)
        blocking_until(lambda: len(calls) > before + 1)  # asked, and not answered
        rig.clock.ms += 300
        before = len(calls)
        blocking_until(lambda: len(calls) > before + 1)
        rig.clock.ms += 1
        blocking_until(let_go.is_set)
        counts["let go"] = len(calls)
        time.sleep(0.1)  # noqa: ASYNC251 - five rounds of the thread
        counts["later"] = len(calls)

    rig.handle(work)
    rig.handle(asyncio.Event().wait, name="waits")
    job, other = rig.queue.add(), rig.queue.add("waits")
    with capture_logs() as logs, told_of(let_go, "leases.let_go"):
        async with rig.running():
            await wait_for(lambda: "later" in counts)
            assert counts["later"] == counts["let go"]
            del rig.queue.active[other]  # as it was claimed elsewhere meanwhile
            await wait_for(lambda: rig.parts.stats.lost)
            assert rig.parts.stats.completed == 1
    said = [line for line in logs if line["event"].startswith("leases.")]
    assert [line["event"] for line in said] == ["leases.let_go", "leases.extended_again"]
    assert (said[0]["log_level"], set(said[0]["jobs"])) == ("error", {job, other})
    assert (said[0]["job_names"], said[0]["lag"]) == (["waits", "work"], 0.301)


async def test_a_loop_that_turns_is_never_taken_for_stuck_however_long_its_jobs_run():
    rig = Rig(lease_ms=100, renew_ms=20, stuck_ms=301)
    rig.handle(asyncio.Event().wait, name="waits")
    rig.queue.add("waits")
    with capture_logs() as logs:
        async with rig.running():
            for _ in range(5):
                before = len(rig.extender.calls)
                await wait_for(lambda before=before: len(rig.extender.calls) > before)
                await settled()
                await rig.clock.advance(10_000)
    assert not [line for line in logs if line["event"].startswith("leases.")]
