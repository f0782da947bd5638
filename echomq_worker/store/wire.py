"""Sends commands: over a pool, or over one private connection for one call at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as ClosedError
from redis.exceptions import NoScriptError, ReadOnlyError, ResponseError

from echomq_worker.errors import UnavailableError
from echomq_worker.protocol.scripts import BoundScript, Operand
from echomq_worker.store.translate import translated_errors

Reply = Any
"""Whatever the server answers: numbers, bytes, None, and lists of these."""

T = TypeVar("T")

# The client's own packer is written in Python and costs more than everything else in a call.
_pack = cast("Callable[[tuple[Operand, ...]], bytes]", hiredis.pack_command)  # pyright: ignore[reportUnknownMemberType]


class Wire(Protocol):
    """All that is asked of a client, so that a test can wrap it in a few lines."""

    async def command(self, *parts: Operand) -> Reply:
        """Send one command and return its reply."""
        ...


class PooledWire:
    """Takes a connection from the pool for each command."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def command(self, *parts: Operand) -> Reply:
        """Send one command and return its reply."""
        try:
            return cast("Reply", await self._client.execute_command(*parts))
        except ReadOnlyError:
            # It was a primary when we connected; the name may lead to another one now.
            await self._client.connection_pool.disconnect(inuse_connections=False)
            raise


class PrivateWire:
    """Keeps one connection for itself. Cut off midway, it starts afresh: no reply is mixed up.

    Args:
        client: whose server to connect to, and how.
        use: what the connection is for, as `CLIENT LIST` shows it.
        extra_ms: how much longer than any command a reply may take.
    """

    def __init__(self, client: Redis, use: str = "", extra_ms: int = 0) -> None:
        self._pool = client.connection_pool
        self._use = use
        self._extra_s = extra_ms / 1000
        self._timeout_s: float | None = None
        self._connection: AbstractConnection | None = None
        self.epoch = 0
        """How often it has connected."""

    async def command(self, *parts: Operand) -> Reply:
        """Send one command and return its reply."""
        connection = await self.connect()
        try:
            await connection.send_packed_command(_pack(parts), check_health=False)
            return cast("Reply", await connection.read_response())
        except ResponseError as error:
            if isinstance(error, (ClosedError, ReadOnlyError)):
                await self.aclose()
            raise
        except BaseException:
            await self.aclose()
            raise

    async def connect(self) -> AbstractConnection:
        """Make the connection if there is none; a command does so too."""
        if self._connection is None:
            self._connection = self._pool.make_connection()
            if self._use and self._connection.client_name:
                self._connection.client_name += f":{self._use}"
            self._timeout_s = self._connection.socket_timeout
        if not self._connection.is_connected:
            self._connection.socket_timeout = self._timeout_s
            await self._connection.connect()
            self.epoch += 1
            # Only now, since all others wait while a connection is made. And not by an argument of
            # each read: that one ends with None, as an empty reply does.
            if self._timeout_s is not None:
                self._connection.socket_timeout = self._timeout_s + self._extra_s
        return self._connection

    async def aclose(self) -> None:
        """Drop the connection; the next command makes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)


async def run_script(
    wire: Wire, script: BoundScript, args: Mapping[str, Operand], rest: Sequence[Operand] = ()
) -> Reply:
    """Run a script by its hash; send the whole source if the server does not know it.

    Raises:
        ServerError: or one of its kinds; `UnavailableError` means that the outcome is unknown.
        TypeError: if the operands are not those of the script's header.
    """
    operands = script.operands(args, rest)
    with translated_errors():
        try:
            return await wire.command("EVALSHA", script.script.sha, *operands)
        except NoScriptError:
            return await wire.command("EVAL", script.script.source, *operands)


async def ask_again(ask: Callable[[], Awaitable[T]], *, tries: int = 3, wait_s: float = 0.05) -> T:
    """Ask what is safe to repeat, up to `tries` times while the server is unavailable."""
    for attempt in range(1, tries + 1):
        try:
            return await ask()
        except UnavailableError:
            if attempt == tries:
                raise
            await asyncio.sleep(wait_s * attempt)
    msg = "tries must be at least 1"
    raise ValueError(msg)
