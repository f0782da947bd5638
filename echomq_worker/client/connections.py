"""One connected backend for each event loop that uses the application."""

import asyncio
from collections.abc import AsyncGenerator, Callable

from echomq_worker.client.ports import Backend


class Connections:
    """Connects when a loop first needs it; disconnects when told, or when the loop ends.

    A connection belongs to the loop that opened it. A script that calls `asyncio.run` twice, or a
    web application whose threads use the synchronous client, has more than one loop.

    Args:
        make: makes a backend; it is opened here.
    """

    def __init__(self, make: Callable[[], Backend]) -> None:
        self._make = make
        self._of_loop: dict[asyncio.AbstractEventLoop, _Connection] = {}

    async def backend(self) -> Backend:
        """Return the backend of the running loop; connect first if need be.

        Raises:
            ServerError: if the server refuses or cannot be reached.
        """
        return await self._connection().backend()

    async def hold(self) -> None:
        """Connect, and stay connected until `release` was called as often. Raises `ServerError`."""
        connection = self._connection()
        await connection.backend()
        connection.holders += 1

    async def release(self) -> None:
        """Disconnect the running loop if this was the last hold."""
        connection = self._connection()
        connection.holders -= 1
        if connection.holders <= 0:
            del self._of_loop[asyncio.get_running_loop()]
            await connection.aclose()

    def _connection(self) -> "_Connection":
        loop = asyncio.get_running_loop()
        if (connection := self._of_loop.get(loop)) is None:
            for other in list(self._of_loop):  # a copy: other threads have loops too
                if other.is_closed():
                    self._of_loop.pop(other, None)
            connection = self._of_loop[loop] = _Connection(self._make)
        return connection


class _Connection:
    def __init__(self, make: Callable[[], Backend]) -> None:
        self.holders = 0
        self._make = make
        self._lock = asyncio.Lock()
        self._backend: Backend | None = None
        self._opened: AsyncGenerator[Backend] | None = None

    async def backend(self) -> Backend:
        if self._backend is not None:
            return self._backend
        async with self._lock:
            if self._backend is None:
                self._opened = _opened(self._make())
                self._backend = await anext(self._opened)
            return self._backend

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.aclose()


async def _opened(backend: Backend) -> AsyncGenerator[Backend]:
    # A generator, because an ending loop closes those that it has started: whoever never closes
    # the application still disconnects properly.
    try:
        await backend.open()
        yield backend
    finally:
        await backend.aclose()
