"""The server: connections, the version fence, and the queues on it."""

from typing import Self
from urllib.parse import urlsplit

from redis.asyncio.connection import AbstractConnection

from echomq_worker.domain.server_facts import ServerFacts
from echomq_worker.domain.views import ServerInfo
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.store.connect import command_client, pass_the_fence
from echomq_worker.store.facts import read_facts
from echomq_worker.store.fleet import Fleet
from echomq_worker.store.nodes import NodeLease
from echomq_worker.store.options import ServerOptions
from echomq_worker.store.queue import QueueStore
from echomq_worker.store.rights import Missing, Needs
from echomq_worker.store.self_test import missing_rights
from echomq_worker.store.translate import translated_errors
from echomq_worker.store.wire import PooledWire, Reply, Wire


class Server:
    """One Redis or Valkey server. Making one does no I/O; the first command connects.

    Example:
        async with Server(ServerOptions(url="redis://localhost:6379/0")) as server:
            await server.queue("mail").counts()
    """

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self._epoch = 0
        self._client = command_client(options, self._on_connect)
        self._wire = PooledWire(self._client)
        self._queues: dict[str, QueueStore] = {}

    async def open(self) -> None:
        """Connect once and pass the version fence.

        Raises:
            UnavailableError: the server cannot be reached.
            AccessError: it refuses the user or password.
            WireVersionError: it holds another wire version; nothing was written.
        """
        await self._command("PING")

    async def aclose(self) -> None:
        """Close all connections."""
        for queue in self._queues.values():
            await queue.aclose()
        await self._client.aclose(close_connection_pool=True)

    def queue(self, name: str) -> QueueStore:
        """Return the queue of that name. Raises `InvalidQueueError` for a bad name."""
        if name not in self._queues:
            self._queues[name] = QueueStore(name, self._client, self.options, lambda: self._epoch)
        return self._queues[name]

    @property
    def wire(self) -> Wire:
        """Return what takes single commands, for who looks into queues or mends them."""
        return self._wire

    def node_lease(self) -> NodeLease:
        """Return a lease on a node number, not taken yet."""
        return NodeLease(self._wire)

    @property
    def fleet(self) -> Fleet:
        """The workers on this server, as they present themselves."""
        return Fleet(self._wire)

    async def describe(self) -> ServerInfo:
        """Ask the server what it is, and how its clock differs from ours."""
        facts = await read_facts(self._command, config=False)
        return ServerInfo(
            name=facts.name,
            version=facts.version,
            location=location(self.options.url),
            memory_policy=facts.memory_policy,
            clock_offset_ms=facts.clock_offset_ms,
        )

    async def facts(self) -> ServerFacts:
        """Ask the server what it is, how it is doing and how it is set up."""
        return await read_facts(self._command)

    async def missing_rights(self, needs: Needs) -> Missing | None:
        """Return what this user lacks; None if the server cannot tell (before Redis 7).

        One round trip a queue. It reads and writes nothing.
        """
        return await missing_rights(self._wire, needs)

    async def has_queue(self, name: str) -> bool:
        """Return whether a queue has any of the keys that its first job or scheduler makes."""
        keys = Keyspace(name)
        counts = (keys.completed_count, keys.failed_count)
        places = (keys.pending, keys.schedule, keys.active, keys.dead)
        clocks = (keys.schedulers, keys.repeat)
        return await self._command("EXISTS", keys.meta, *places, *counts, *clocks) > 0

    async def queue_names(self) -> list[str]:
        """Find the queues on this server by scanning its keys (slow on a big server)."""
        names: set[str] = set()
        cursor: Reply = 0
        while True:
            cursor, keys = await self._command("SCAN", cursor, "MATCH", "emq:{*}:*", "COUNT", 500)
            names.update(key.decode("utf-8", "replace")[5:].split("}", 1)[0] for key in keys)
            if int(cursor) == 0:
                return sorted(names)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    async def _on_connect(self, connection: AbstractConnection) -> None:
        await connection.on_connect()
        await pass_the_fence(connection, self.options.wire_version)
        self._epoch += 1

    async def _command(self, *parts: str | int) -> Reply:
        with translated_errors():
            return await self._wire.command(*parts)


def location(url: str) -> str:
    """Return where a URL points, without user, password and query."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return f"unix://{parts.path}"
    host = parts.hostname or "localhost"
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"
