"""A worker works, waits for a server that is away, or ends: it never lives on idle."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from echomq_worker import health
from echomq_worker.backend import server_options
from echomq_worker.config import load
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import EchoMQError
from echomq_worker.observe.heartbeat_file import HeartbeatFile
from echomq_worker.store import Server
from echomq_worker.wiring import Wired
from echomq_worker.worker import supervisor
from echomq_worker.worker.desk import Desk
from echomq_worker.worker.leases import Leases
from echomq_worker.worker.listener import Listener
from echomq_worker.worker.loop_guard import LoopGuard
from echomq_worker.worker.presence import Heart
from echomq_worker.worker.pump import Pump
from echomq_worker.worker.timeouts import Timeouts
from tests.support.grumpy import Grumpy, on
from tests.support.private import QUEUE
from tests.support.shop import QUICK, Shop, open_shop, until

SERVICES = (Desk, Pump, Listener, Leases, Timeouts, Heart, LoopGuard)
PER_SECOND = 5
"""So many attempts to connect in one second are too many."""
AGAIN_S = 2.0
"""How soon a worker consumes again once the server answers."""


def break_down(monkeypatch: pytest.MonkeyPatch, service: type, times: float) -> list[float]:
    """Let the first runs of a service raise; return when each run began."""
    runs: list[float] = []
    healthy: Callable[[object], Awaitable[None]] = vars(service)["run"]

    async def run(self: object) -> None:
        runs.append(time.monotonic())
        if len(runs) <= times:
            msg = "broken by the test"
            raise RuntimeError(msg)
        await healthy(self)

    monkeypatch.setattr(service, "run", run)
    return runs


@pytest.mark.case("REC-06")
@pytest.mark.parametrize("service", SERVICES)
async def test_a_service_that_fails_is_run_again_and_the_worker_works(
    shop: Shop, private_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch, service: type
):
    monkeypatch.setattr(supervisor, "FIRST_WAIT_MS", 20)
    runs = break_down(monkeypatch, service, times=3)
    with capture_logs() as logs:
        async with shop.worker(private_server.url):
            await shop.add(3)
            await shop.completed()
            await until(lambda: len(runs) == 4)
    waits = [later - first for first, later in pairwise(runs)]
    assert all(wait > 0.9 * least for wait, least in zip(waits, (0.02, 0.04, 0.08), strict=True))
    assert [line["event"] for line in logs].count("service.failed") == 3
    assert await shop.ran_once()


@pytest.mark.case("REC-06")
@pytest.mark.parametrize("service", SERVICES)
async def test_a_service_that_fails_for_ever_ends_the_worker(
    shop: Shop, private_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch, service: type
):
    monkeypatch.setattr(supervisor, "FIRST_WAIT_MS", 1)
    runs = break_down(monkeypatch, service, times=float("inf"))
    with capture_logs() as logs, suppress(EchoMQError):
        async with shop.worker(private_server.url):
            await until(lambda: "worker.stopped" in [line["event"] for line in logs])
    assert [line["exit_code"] for line in logs if line["event"] == "worker.stopped"] == [1]
    assert len(runs) == supervisor.FAILURES_LIMIT
    assert "service.given_up" in [line["event"] for line in logs]


@pytest.mark.parametrize("use", ["claims", "hints", "leases"])
async def test_a_link_that_is_half_open_is_noticed_and_made_anew(
    shop: Shop, grumpy: Grumpy, use: str
):
    shop.run_s = 0.05
    async with shop.worker(grumpy.url, LEASE="600ms"):
        await shop.add()
        await shop.completed()
        grumpy.ignore(on(use))
        await shop.add(2)
        links = grumpy.made[use]
        await until(lambda: grumpy.made[use] > links or use == "leases")
        grumpy.relent()
        await shop.add(2)
        assert await shop.completed() < AGAIN_S
    assert set(shop.runs) == set(range(5))


@asynccontextmanager
async def watched(shop: Shop, url: str, name: str, path: Path) -> AsyncGenerator[Path]:
    """Let a worker run that writes how it is into a file."""
    given = QUICK | {"ECHOMQ_WORKER_NAME": name}
    settings = load(given, {"redis_url": url, "queues": QUEUE}).settings
    async with Server(server_options(settings)) as server:
        wired = Wired(settings=settings, app=shop.app, server=server, heartbeat=HeartbeatFile(path))
        running = asyncio.create_task(wired.run())
        try:
            await until(lambda: path.exists() and not complaints(path, "ready"))
            yield path
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


def complaints(path: Path, need: str = "healthy") -> list[str]:
    """Return what speaks against the health of a worker."""
    return health.problems(msgspec.json.decode(path.read_bytes()), time.time(), need)


@pytest.mark.case("REC-08")
async def test_health_turns_red_when_claims_are_not_answered_and_green_again(
    shop: Shop, grumpy: Grumpy, tmp_path: Path
):
    async with watched(shop, grumpy.url, "w:1", tmp_path / "health") as path:
        grumpy.ignore(on("claims"))
        await until(lambda: bool(complaints(path)))
        assert "the server does not answer" in complaints(path)
        grumpy.relent()
        await until(lambda: not complaints(path))


@pytest.mark.case("REC-08")
async def test_a_beat_without_an_answered_claim_does_not_make_a_worker_live(
    shop: Shop, private_server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(health, "FRESH_S", 0.5)
    async with watched(shop, private_server.url, "w:1", tmp_path / "health") as path:

        def ask_nothing(_self: Desk) -> None:
            """Forget that a beat is due."""

        monkeypatch.setattr(Desk, "ask_beat", ask_nothing)
        await until(lambda: bool(complaints(path, "live")))
        assert "no claim was answered for" in complaints(path, "live")[0]


@pytest.mark.case("REC-09")
async def test_the_end_of_one_worker_says_nothing_of_the_other(
    shop: Shop, private_server: EmbeddedServer, tmp_path: Path
):
    async with watched(shop, private_server.url, "w:1", tmp_path / "1") as one:
        async with watched(shop, private_server.url, "w:2", tmp_path / "2") as other:
            assert complaints(other, "ready") == []
        assert not other.exists()
        await asyncio.sleep(0.3)
        assert complaints(one, "ready") == []
        await shop.add()
        await shop.completed()


@pytest.mark.slow
async def test_a_server_that_refuses_connections_is_asked_fewer_than_five_times_a_second(
    shop: Shop, grumpy: Grumpy
):
    queues = (QUEUE, "second", "third")
    async with shop.worker(grumpy.url, queues=queues, LEASE="9s", LEASE_RENEW_INTERVAL="100ms"):
        await shop.add()
        await shop.completed()
        shop.run_s = 1
        await shop.add()  # whose lease wants to be extended meanwhile
        await until(lambda: len(shop.runs) == 2)
        grumpy.shut = True
        grumpy.close_all()
        first = len(grumpy.asked_at)
        await asyncio.sleep(3.5)
        grumpy.shut = False
        asked = grumpy.asked_at[first:]
        await shop.add()
        assert await shop.completed() < AGAIN_S
    assert len(asked) >= 4
    windows = zip(asked, asked[PER_SECOND - 1 :], strict=False)
    assert [later - early for early, later in windows if later - early < 1] == []


@pytest.mark.slow
async def test_a_server_that_was_killed_is_worked_for_within_two_seconds_of_its_return(
    tmp_path: Path,
):
    with EmbeddedServer(tmp_path / "data") as server:
        async with open_shop(server.url) as shop, shop.worker(server.url):
            await shop.add(3)
            await shop.completed()
            await shop.add(50, after="400ms")
            await asyncio.to_thread(server.restart, hard=True)
            await asyncio.sleep(0.4)
            assert await shop.completed() < AGAIN_S
            await shop.add(10)
            assert await shop.completed() < AGAIN_S
            assert set(shop.runs) == set(range(63))
