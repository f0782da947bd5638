"""A way into an event loop from code that has none."""

import asyncio
import atexit
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from echomq_worker.errors import EchoMQError

T = TypeVar("T")


class Portal:
    """Runs coroutines in an event loop of its own, in a daemon thread that starts when needed.

    Threads may share one. A forked child starts its own. At exit the loop is ended.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: _LoopThread | None = None
        _portals.add(self)

    def call(self, function: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run `function` in the loop and wait for what it returns.

        Raises:
            EchoMQError: if this thread runs an event loop, which the wait would block.
        """
        if _has_loop():
            msg = (
                "the synchronous client blocks, and this thread runs an event loop: await the "
                "asynchronous one there, as in `await app.enqueue(...)`"
            )
            raise EchoMQError(msg)
        return self._started().call(function())

    def close(self) -> None:
        """End the loop, and with it the connections made in it. The next call starts another."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.end()

    def forked(self) -> None:
        """Tell it that this process is a fork of the one that started the thread."""
        # The thread does not exist here, and another one may have held the lock.
        self._lock = threading.Lock()
        if self._loop is not None:
            _abandoned.append(self._loop)
            self._loop = None

    def _started(self) -> "_LoopThread":
        with self._lock:
            if self._loop is None:
                self._loop = _LoopThread()
            return self._loop


class _LoopThread:
    def __init__(self) -> None:
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._end = asyncio.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(started)), name="echomq-sync", daemon=True
        )
        self._thread.start()
        self._loop = started.result()

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        answer = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return answer.result()
        except BaseException:  # Ctrl-C, say: whoever asked waits no longer
            answer.cancel()
            raise

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _serve(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        started.set_result(asyncio.get_running_loop())
        await self._end.wait()


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


_portals: weakref.WeakSet[Portal] = weakref.WeakSet()
_abandoned: list[_LoopThread] = []
"""Loops of the parent. Closing one here would unregister the parent's sockets from its selector,
which a fork shares; so they must not even be collected."""


def _close_all() -> None:
    for portal in list(_portals):
        portal.close()


def _after_fork() -> None:
    for portal in list(_portals):
        portal.forked()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
