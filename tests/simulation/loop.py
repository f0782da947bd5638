"""An event loop whose time jumps to the next timer, and that can freeze one worker."""

import asyncio
import heapq
import selectors
from collections.abc import Coroutine
from contextvars import Context, ContextVar
from itertools import count
from math import ceil
from typing import Any, cast

WHO: ContextVar[str] = ContextVar("WHO", default="")
"""To which worker the running code belongs; empty for the world around them."""


class StuckError(Exception):
    """Nobody waits for a time any more, and nothing is ready: all would wait for ever."""


class _Jump(selectors.SelectSelector):
    """Waits for nothing: time moves instead."""

    now_ms = 0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise StuckError
        if timeout > 0:
            self.now_ms += max(1, ceil(timeout * 1_000 - 0.001))
        return []


class _Task(asyncio.Task[Any]):
    """A task whose place in a set does not depend on where it lies in memory."""

    serial: int

    def __hash__(self) -> int:
        return self.serial


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs as fast as it can; its clock shows whole virtual milliseconds from 0."""

    def __init__(self) -> None:
        self._jump = _Jump()
        self._serials = count(1)
        self._frozen: dict[str, list[Any]] = {}
        super().__init__(self._jump)
        # Less is lost in the digits of a time that is months away: nothing would ever be due.
        self._clock_resolution = 1e-6
        self.set_task_factory(cast("Any", _new_task))
        self.unhandled: list[str] = []
        """What broke in a task or callback, and nobody was there to hear of it."""
        self.set_exception_handler(self._note)

    @property
    def now_ms(self) -> int:
        return self._jump.now_ms

    def time(self) -> float:
        return self._jump.now_ms / 1_000

    def next_serial(self) -> int:
        return next(self._serials)

    def call_soon(
        self, callback: Any, *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = super().call_soon(callback, *args, context=context)
        if self._frozen:
            kept = self._frozen.get(_owner(handle))
            if kept is not None:
                kept.append(self._own("_ready").pop())
        return handle

    def freeze(self, who: str) -> None:
        """Let nothing of `who` go on: neither what is ready nor what waits for its time."""
        ready, timers = self._own("_ready"), self._own("_scheduled")
        self._frozen[who] = [
            handle for handle in (*ready, *sorted(timers)) if _owner(handle) == who
        ]
        # As many as before: the loop has counted what it runs in this turn.
        nothing = asyncio.Handle(_do_nothing, (), self, Context())
        kept = [nothing if _owner(handle) == who else handle for handle in ready]
        ready.clear()
        ready.extend(kept)
        timers[:] = [handle for handle in timers if _owner(handle) != who]
        heapq.heapify(timers)

    def thaw(self, who: str) -> None:
        """Let it go on. Timers whose time has come meanwhile go off at once."""
        for handle in self._frozen.pop(who, ()):
            if isinstance(handle, asyncio.TimerHandle):
                heapq.heappush(self._own("_scheduled"), handle)
            else:
                self._own("_ready").append(handle)

    def _note(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # A reply that nobody waits for any more is no failure.
        if "task" in context or "handle" in context:
            self.unhandled.append(f"{context.get('message')}: {context.get('exception')!r}")

    def _own(self, name: str) -> Any:
        return getattr(self, name)


def _do_nothing() -> None:
    """Stands where a frozen handle stood."""


def _owner(handle: Any) -> str:
    return handle._context.get(WHO, "")


def _new_task(loop: Any, coroutine: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
    task = _Task.__new__(_Task)
    task.serial = loop.next_serial()
    task.__init__(coroutine, loop=loop, **options)
    return task
