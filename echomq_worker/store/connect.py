"""Makes connections: time-outs set by us, silent retries off, the version fence on each connect."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection as BlockingConnection

from echomq_worker.errors import WireVersionError
from echomq_worker.protocol.fence import fence
from echomq_worker.store.options import ServerOptions
from echomq_worker.store.prompt import PROMPT
from echomq_worker.store.translate import FenceRefusedError

Answer = bytes | str | None
OnConnect = Callable[[AbstractConnection], Awaitable[None]]


def command_client(options: ServerOptions, on_connect: OnConnect) -> Redis:
    """Return a client whose pool waits for a free connection instead of failing.

    It hands out replies as the server sends them, as a `PrivateWire` does.
    """
    pool = BlockingConnectionPool.from_url(
        options.url,
        max_connections=options.max_connections,
        timeout=options.timeout_ms / 1000,
        **connection_settings(options),
        redis_connect_func=on_connect,
        gate=options.gate,
    )
    pool.connection_class = PROMPT[pool.connection_class]
    client = Redis.from_pool(pool)
    client.response_callbacks.clear()
    return client


def connection_settings(options: ServerOptions) -> dict[str, Any]:
    """Return the settings of a connection that do not depend on how it is used."""
    settings: dict[str, Any] = {
        "socket_timeout": options.timeout_ms / 1000,
        "socket_connect_timeout": options.connect_timeout_ms / 1000,
        "retry": Retry(NoBackoff(), 0),
        "retry_on_error": [],
        "health_check_interval": 0,
        "protocol": 2,
        "client_name": options.client_name,
    }
    if not options.url.startswith("unix:"):
        settings["socket_keepalive"] = True
    given = {
        "username": options.username,
        "password": options.password,
        "ssl_ca_certs": options.tls_ca_path,
        "ssl_certfile": options.tls_cert_path,
        "ssl_keyfile": options.tls_key_path,
    }
    return settings | {name: value for name, value in given.items() if value is not None}


async def pass_the_fence(connection: AbstractConnection, own: str) -> None:
    """Claim the wire version for this server, or verify that it is ours.

    Runs on every connect and reconnect, before any other command. A foreign value is left alone.

    Raises:
        FenceRefusedError: carrying a `WireVersionError`.
    """
    dialogue = fence(own)
    command = next(dialogue)
    try:
        while True:
            await connection.send_command(*command)
            command = dialogue.send(cast("Answer", await connection.read_response()))
    except StopIteration as end:
        _compare(end.value, own)


def pass_the_fence_blocking(connection: BlockingConnection, own: str) -> None:
    """Do the same on a connection that no event loop serves."""
    dialogue = fence(own)
    command = next(dialogue)
    try:
        while True:
            connection.send_command(*command)
            command = dialogue.send(cast("Answer", connection.read_response()))
    except StopIteration as end:
        _compare(end.value, own)


def _compare(found: str, own: str) -> None:
    if found != own:
        raise FenceRefusedError(wire_version_error(found, own))


def wire_version_error(found: str, own: str) -> WireVersionError:
    """Say that the server holds queues of another wire version."""
    msg = (
        f"this server holds wire {found!r}, this process speaks {own!r}. Nothing was written. Use "
        "another server or database, or a version of echomq-worker (or ECHOMQ_WIRE_VERSION) that "
        "speaks it"
    )
    return WireVersionError(msg, found=found, own=own)
