"""Waits on the server for a hint that there may be work."""

from redis.asyncio import Redis

from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.store.translate import translated_errors
from echomq_worker.store.wire import PooledWire, PrivateWire

EXTRA_MS = 2_000
"""How much longer than its own time a blocking read may take before the link counts as dead."""


class Hints:
    """The hints of one queue, read over a connection of their own.

    Only a hint is taken, never a job, so that a lost reply loses nothing. One wait at a time.
    """

    def __init__(self, client: Redis, keys: Keyspace) -> None:
        self._client = client
        self._keys = keys
        self._others = PooledWire(client)
        self._wire: PrivateWire | None = None
        self._epoch = 0
        self._connection_id: int | None = None

    async def wait(self, *, bell: bool, clock: bool, timeout_ms: int) -> bool:
        """Sleep until told of work (`bell`) or of a nearer due time (`clock`).

        Returns:
            True if told, False when `timeout_ms` has passed or `end_wait` was called.
        """
        keys = self._keys
        wanted = [key for key, is_wanted in ((keys.bell, bell), (keys.clock, clock)) if is_wanted]
        if self._wire is None:
            self._wire = PrivateWire(self._client, "hints", timeout_ms + EXTRA_MS)
        with translated_errors(about=" or ".join(wanted)):
            await self._meet(self._wire)
            reply = await self._wire.command("BLPOP", *wanted, f"{timeout_ms / 1000:.3f}")
        return reply is not None

    async def end_wait(self) -> bool:
        """End the wait that is under way, as if its time were over; its connection stays.

        Returns:
            Whether one was ended. A hint that came before is told by that wait.
        """
        if self._connection_id is None:
            return False
        with translated_errors():
            ended = await self._others.command("CLIENT", "UNBLOCK", self._connection_id, "TIMEOUT")
        return ended == 1

    async def aclose(self) -> None:
        """Close the connection."""
        if self._wire is not None:
            await self._wire.aclose()

    async def _meet(self, wire: PrivateWire) -> None:
        await wire.connect()
        if wire.epoch != self._epoch:
            self._connection_id = None
            self._connection_id = await wire.command("CLIENT", "ID")
            self._epoch = wire.epoch
