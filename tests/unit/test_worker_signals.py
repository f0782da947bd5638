"""What each signal asks for. Sending them to real processes is the end-to-end tests' business."""

import asyncio
import json
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.job import Held, JobId
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.run import Run
from echomq_worker.worker.signals import Signals, Wish, wish_after
from echomq_worker.worker.stop import Budget, Phase, Stop
from tests.fakes import FakeClock

TERM, INT, QUIT = signal.SIGTERM, signal.SIGINT, signal.SIGQUIT


@pytest.mark.parametrize(
    ("sent", "wish"),
    [
        ([TERM], Wish.DRAIN),
        ([TERM, TERM, TERM], Wish.DRAIN),
        ([INT], Wish.DRAIN),
        ([INT, INT], Wish.CANCEL),
        ([INT, INT, INT], Wish.EXIT),
        ([TERM, INT], Wish.CANCEL),
        ([TERM, TERM, INT, INT], Wish.EXIT),
        ([QUIT], Wish.CANCEL),
        ([QUIT, QUIT, TERM], Wish.CANCEL),
        ([QUIT, INT], Wish.EXIT),
        ([signal.SIGUSR1], Wish.NOTHING),
        ([INT, signal.SIGUSR1], Wish.DRAIN),
    ],
)
def test_signals_add_up_to_a_wish(sent: list[signal.Signals], wish: Wish):
    now = Wish.NOTHING
    for signum in sent:
        now = wish_after(now, signum)
    assert now is wish


class LeftError(Exception):
    """The process would have ended."""


@contextmanager
def installed(budget: Budget | None = None) -> Generator[Signals]:
    def leave(code: int) -> None:
        raise LeftError(code)

    signals = Signals(budget or Budget(), leave)  # pyright: ignore[reportArgumentType]
    signals.install()
    try:
        yield signals
    finally:
        signals.uninstall()


def test_before_the_worker_runs_a_signal_ends_what_the_main_thread_does():
    with installed(), pytest.raises(SystemExit) as raised:
        os.kill(os.getpid(), TERM)
    assert raised.value.code == 0
    with installed(), pytest.raises(SystemExit) as raised:
        os.kill(os.getpid(), INT)
    assert raised.value.code == 130


async def test_a_running_worker_drains_then_cancels_then_is_gone():
    with installed() as signals:
        stop = Stop(FakeClock(), Budget())
        signals.attach(stop)
        os.kill(os.getpid(), TERM)
        await asyncio.wait_for(stop.draining.wait(), 5)
        assert (stop.phase, stop.reason) == (Phase.DRAINING, "SIGTERM")
        os.kill(os.getpid(), TERM)
        os.kill(os.getpid(), INT)
        await asyncio.wait_for(stop.cancelling.wait(), 5)
        assert stop.phase is Phase.CANCELLING
        with pytest.raises(LeftError, match="130"):
            os.kill(os.getpid(), INT)


async def test_a_dump_can_be_asked_for(capfd: pytest.CaptureFixture[str]):
    dumped = asyncio.Event()
    with installed() as signals:
        signals.attach(Stop(FakeClock(), Budget()), dumped.set)
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.wait_for(dumped.wait(), 5)
    assert "test_worker_signals.py" in capfd.readouterr().err


async def test_a_blocked_loop_still_counts_its_budget_from_the_signal():
    import time  # noqa: PLC0415

    with installed() as signals:
        clock = FakeClock()
        stop = Stop(clock, Budget(total_ms=25_000, cancel_ms=5_000))
        signals.attach(stop)
        before = time.monotonic_ns() // 1_000_000
        os.kill(os.getpid(), TERM)
        time.sleep(0.02)  # noqa: ASYNC251 - a handler that blocks
        await asyncio.wait_for(stop.draining.wait(), 5)
        assert 0 <= stop.began_at_ms - before < 15


async def test_usr2_is_told_of_and_ends_nothing():
    with capture_logs() as logs, installed() as signals:
        stop = Stop(FakeClock(), Budget())
        signals.attach(stop)
        os.kill(os.getpid(), signal.SIGUSR2)
        os.kill(os.getpid(), TERM)
        await asyncio.wait_for(stop.draining.wait(), 5)
        assert stop.reason == "SIGTERM"
    assert [(line["event"], line["signal"]) for line in logs] == [("signal.ignored", "SIGUSR2")]


def test_a_process_that_is_not_gone_in_time_names_its_jobs_and_is_ended_by_force(
    capfd: pytest.CaptureFixture[str],
):
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        raise LeftError

    signals = Signals(Budget(total_ms=0, cancel_ms=0), leave)  # pyright: ignore[reportArgumentType]
    read, write = os.pipe()
    signals._reader, signals._writer = read, write
    signals._hands = hands = Hands()
    for number in range(25):
        hands.take(
            Run(Held("mail", JobId(f"JOB{number}"), b"", token=1, claim="c", name="send"), 0)
        )
    os.write(write, bytes([TERM]))
    import echomq_worker.worker.signals as module  # noqa: PLC0415

    margin, module.MARGIN_MS = module.MARGIN_MS, 5
    try:
        with pytest.raises(LeftError):
            signals._watch()
    finally:
        module.MARGIN_MS = margin
        os.close(read)
        os.close(write)
    assert codes == [75]
    said = json.loads(capfd.readouterr().err.splitlines()[-1])
    assert (said["event"], said["count"], len(said["jobs"])) == ("worker.abandoned", 25, 20)
    assert {job["job_name"] for job in said["jobs"]} == {"send"}
    assert {job["job_id"] for job in said["jobs"]} <= {f"JOB{number}" for number in range(25)}


def test_the_signals_are_given_back():
    before = signal.getsignal(TERM)
    with installed():
        assert signal.getsignal(TERM) != before
    assert signal.getsignal(TERM) == before


def test_a_forked_child_does_not_speak_for_its_parent(monkeypatch: pytest.MonkeyPatch):
    with installed() as signals:
        signals._pid = os.getppid()
        previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        killed: list[int] = []

        def kill(_pid: int, signum: int) -> None:
            killed.append(signum)

        monkeypatch.setattr(os, "kill", kill)
        signals._on_signal(signal.SIGHUP, None)
        signal.signal(signal.SIGHUP, previous)
    assert killed == [signal.SIGHUP]
    assert signals._wish is Wish.NOTHING
