"""A wire on which chosen calls go wrong: never sent, never answered, or sent too late."""

from collections import deque
from collections.abc import Awaitable, Callable
from enum import Enum

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as CutError

from echomq_worker.protocol.scripts import Operand, script
from echomq_worker.store.wire import PrivateWire, Reply


class Fault(Enum):
    """What happens to one call."""

    LOST = "it never reaches the server"
    UNANSWERED = "the server does it, and the reply is lost"
    LATE = "it reaches the server only when the test says so"


class CutWire(PrivateWire):
    """Passes calls on, except those that are to go wrong."""

    def __init__(self, inner: PrivateWire) -> None:
        self._inner = inner
        self._faults: deque[Fault] = deque()
        self._late: list[tuple[Operand, ...]] = []
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        """Awaited once, after a call has gone wrong and before it is asked again."""
        self.only: str | None = None
        """The script whose calls go wrong; None for all calls."""

    def next_calls(self, *faults: Fault) -> None:
        """Say what happens to the next calls; those after them go well."""
        self._faults.extend(faults)

    async def connect(self) -> AbstractConnection:
        """Make the connection of the wire behind."""
        return await self._inner.connect()

    async def aclose(self) -> None:
        """Drop the connection of the wire behind."""
        await self._inner.aclose()

    async def command(self, *parts: Operand) -> Reply:
        """Send one command and return its reply, unless it is to go wrong."""
        if not self._faults or not self._is_chosen(parts):
            return await self._inner.command(*parts)
        if self._faults[0] is Fault.UNANSWERED:
            await self._inner.command(*parts)  # or raises: an unknown script has done nothing
        elif self._faults[0] is Fault.LATE:
            self._late.append(parts)
        self._faults.popleft()
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        msg = "cut by the test"
        raise CutError(msg)

    def _is_chosen(self, parts: tuple[Operand, ...]) -> bool:
        if self.only is None:
            return True
        chosen = script(self.only)
        return parts[1] in {chosen.sha, chosen.source}

    async def deliver_late(self) -> list[Reply | Exception]:
        """Let the late calls reach the server now; return what it says to each."""
        said: list[Reply | Exception] = []
        for parts in self._late:
            try:
                said.append(await self._inner.command(*parts))
            except Exception as error:  # noqa: BLE001 - the test looks at it
                said.append(error)
        self._late.clear()
        return said
