"""Hears signals even while a handler holds up the loop; ends a process that cannot end itself."""

import asyncio
import faulthandler
import json
import os
import select
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from types import FrameType
from typing import Any, NoReturn

import structlog

from echomq_worker.worker.hands import Hands
from echomq_worker.worker.run import Run
from echomq_worker.worker.stop import EXIT_FORCED, EXIT_INCOMPLETE, EXIT_OK, Budget, Stop

MARGIN_MS = 1_000
"""How long past its budget a process may be before it is ended by force."""
_HEARD = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGHUP,
)
_END_OF_WATCH = 0
MOST_NAMED = 20


class Wish(IntEnum):
    """What the signals so far ask for."""

    NOTHING = 0
    DRAIN = 1
    CANCEL = 2
    EXIT = 3


def wish_after(wish: Wish, signum: int) -> Wish:
    """Return what is asked for after one more signal."""
    match signum:
        case signal.SIGTERM:
            return max(wish, Wish.DRAIN)
        case signal.SIGINT:
            return Wish(min(wish + 1, Wish.EXIT))
        case signal.SIGQUIT:
            return max(wish, Wish.CANCEL)
        case _:
            return wish


class Signals:
    """Receives signals from before the application is imported until the process ends.

    A plain handler notes what is asked for and wakes a thread; the thread tells the loop, and ends
    the process if it is not gone when its time is up. So neither a slow import nor a blocked loop
    nor a dead server keeps the process alive.

    Args:
        budget: how long a stop may take.
        leave: ends the process at once.
    """

    def __init__(self, budget: Budget, leave: Callable[[int], NoReturn] = os._exit) -> None:
        self.budget = budget
        self._leave = leave
        self._wish = Wish.NOTHING
        self._deadline_ms: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Stop | None = None
        self._dump: Callable[[], None] | None = None
        self._hands: Hands | None = None
        self._heard: deque[tuple[int, int]] = deque()
        self._told_of_repeat = False
        self._previous: dict[int, Any] = {}
        self._reader = self._writer = -1
        self._pid = os.getpid()
        self._on_terminal = os.isatty(0)

    def install(self) -> None:
        """Receive signals from now on. Call it in the main thread, before user code is imported.

        Until `attach` is called, a signal to stop raises `SystemExit` where the main thread is.
        """
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        for signum in _HEARD:
            self._previous[signum] = signal.signal(signum, self._on_signal)
        # Writes all stacks even if no Python code can run, then lets our handler have its turn.
        faulthandler.register(signal.SIGUSR1, file=2, all_threads=True, chain=True)
        threading.Thread(target=self._watch, name="echomq-signals", daemon=True).start()

    def uninstall(self) -> None:
        """Give the signals back to whoever had them."""
        faulthandler.unregister(signal.SIGUSR1)
        for signum, previous in self._previous.items():
            signal.signal(signum, previous)
        self._previous.clear()
        os.write(self._writer, bytes([_END_OF_WATCH]))

    def attach(
        self, stop: Stop, dump: Callable[[], None] | None = None, hands: Hands | None = None
    ) -> None:
        """Tell `stop` what is asked for, on the running loop.

        Args:
            stop: told of each wish.
            dump: called on USR1.
            hands: the jobs that are named if the process has to be ended by force.
        """
        self._stop = stop
        self._dump = dump
        self._hands = hands
        self._loop = asyncio.get_running_loop()
        self._take()

    def _on_signal(self, signum: int, _frame: FrameType | None) -> None:
        if os.getpid() != self._pid:  # a child of a fork, for which none of this is meant
            signal.signal(signum, signal.SIG_DFL)
            os.kill(os.getpid(), signum)
            return
        if signum == signal.SIGHUP and not self._on_terminal:
            return
        self._wish = wish_after(self._wish, _as_stop(signum))
        if self._wish is Wish.EXIT:
            _say("forced to exit\n")
            self._leave(EXIT_FORCED)
        with suppress(BlockingIOError):
            os.write(self._writer, bytes([_as_stop(signum)]))
        if self._loop is None and self._wish is not Wish.NOTHING:
            raise SystemExit(EXIT_FORCED if signum == signal.SIGINT else EXIT_OK)

    def _watch(self) -> None:
        wish = Wish.NOTHING
        while True:
            if not select.select([self._reader], [], [], self._seconds_left())[0]:
                _say("not gone when its time was up: ended by force\n")
                self._say_abandoned()
                self._leave(EXIT_INCOMPLETE)
            at_ms = _now_ms()
            for signum in os.read(self._reader, 64):
                if signum == _END_OF_WATCH:
                    os.close(self._reader)
                    os.close(self._writer)
                    return
                wish = self._set_deadline(wish, wish_after(wish, signum), at_ms)
                self._tell(signum, at_ms)

    def _set_deadline(self, before: Wish, wish: Wish, at_ms: int) -> Wish:
        if before is Wish.NOTHING and wish >= Wish.DRAIN:
            self._deadline_ms = at_ms + self.budget.total_ms + MARGIN_MS
        if before < Wish.CANCEL <= wish:
            sooner_ms = at_ms + self.budget.cancel_ms + MARGIN_MS
            self._deadline_ms = min(self._deadline_ms or sooner_ms, sooner_ms)
        return wish

    def _seconds_left(self) -> float | None:
        if self._deadline_ms is None:
            return None
        return max(0, self._deadline_ms - _now_ms()) / 1_000

    def _tell(self, signum: int, at_ms: int) -> None:
        # Appended before the look, as `attach` looks after it has set the loop: nothing is missed.
        self._heard.append((signum, at_ms))
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: the process is about to end
                self._loop.call_soon_threadsafe(self._take)

    def _take(self) -> None:
        while self._heard and self._stop is not None:
            self._apply(self._stop, *self._heard.popleft())

    def _apply(self, stop: Stop, signum: int, at_ms: int) -> None:
        name = signal.Signals(signum).name
        match signum:
            case signal.SIGUSR1:
                if self._dump is not None:
                    self._dump()
            case signal.SIGUSR2:
                log: Any = structlog.get_logger("echomq.worker")
                hint = "a quiet mode is yet to come: SIGTERM drains, pausing a queue stops claims"
                log.warning("signal.ignored", signal=name, hint=hint)
            case signal.SIGQUIT:
                stop.cancel(name, at_ms)
            case signal.SIGINT if stop.draining.is_set():
                stop.cancel(name, at_ms)
            case _ if stop.draining.is_set():
                self._repeated(name)
            case _:
                stop.drain(name, at_ms)

    def _say_abandoned(self) -> None:
        runs = _copied(self._hands.running) if self._hands is not None else []
        if not runs:
            return
        named = [
            {"queue": run.held.queue, "job_name": run.name, "job_id": run.held.id}
            for run in runs[:MOST_NAMED]
        ]
        line = {
            "level": "critical",
            "event": "worker.abandoned",
            "jobs": named,
            "count": len(runs),
            "hint": "these jobs run again when their leases have run out",
        }
        _write(json.dumps(line) + "\n")

    def _repeated(self, name: str) -> None:
        if not self._told_of_repeat:
            self._told_of_repeat = True
            log: Any = structlog.get_logger("echomq.worker")
            log.info("signal.ignored", signal=name, hint="it is draining already; SIGQUIT cancels")


def _as_stop(signum: int) -> int:
    """A terminal that goes away asks for the same as SIGTERM."""
    return signal.SIGTERM if signum == signal.SIGHUP else signum


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _copied(runs: set[Run]) -> list[Run]:
    """Copy what another thread may be changing."""
    for _ in range(10):
        with suppress(RuntimeError):
            return list(runs)
    return []


def _say(text: str) -> None:
    _write(f"echomq: {text}")


def _write(text: str) -> None:
    # Not by the logger: the loop, the logger and its locks may all be stuck.
    with suppress(OSError):
        os.write(2, text.encode())
