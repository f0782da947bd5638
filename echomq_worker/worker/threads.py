"""Threads for sync handlers."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Any

_Answer = tuple[Any, BaseException | None]
_Call = tuple[asyncio.Future[_Answer], Context, Callable[[], Any]]


class Threads:
    """Runs calls in at most `size` threads, which are made when they are needed.

    They are daemons: one that does not end keeps no process alive.

    Args:
        size: how many calls may run at once; further ones wait.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._made = 0
        self._under_way = 0
        """How many calls no thread is done with, whether or not somebody still waits for them."""
        self._answers: deque[tuple[asyncio.Future[_Answer], _Answer]] = deque()
        self._delivery_due = False

    async def run(self, call: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the handler returns
        """Run `call` in a thread, in a copy of this context; return or raise what it does."""
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._under_way += 1
        if self._made < min(self._size, self._under_way):
            self._make()
        self._calls.put((answer, copy_context(), call))
        value, error = await answer
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """Let the threads end, each after what it is doing."""
        for _ in range(self._made):
            self._calls.put(None)

    def _make(self) -> None:
        self._made += 1
        name = f"echomq-handler-{self._made}"
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _serve(self) -> None:
        while (item := self._calls.get()) is not None:
            answer, context, call = item
            value, error = None, None
            try:
                value = context.run(call)
            except BaseException as raised:  # noqa: BLE001 - not even SystemExit ends the worker
                error = raised
            self._hand_over(answer, (value, error))
            del item, answer, context, call, value, error

    def _hand_over(self, answer: asyncio.Future[_Answer], told: _Answer) -> None:
        self._answers.append((answer, told))
        # Appended before the look: a delivery that is due has yet to come by.
        if not self._delivery_due:
            self._delivery_due = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                answer.get_loop().call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._delivery_due = False
        while self._answers:
            answer, told = self._answers.popleft()
            self._under_way -= 1
            if not answer.done():
                answer.set_result(told)
