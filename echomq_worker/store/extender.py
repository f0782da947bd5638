"""Extends leases from a thread, on a connection of its own that no event loop can hold up."""

import threading
from collections.abc import Sequence
from typing import Any, cast

from redis import Redis
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import NoScriptError, ReadOnlyError
from redis.exceptions import TimeoutError as TooLateError
from redis.retry import Retry

from echomq_worker.domain.job import Held
from echomq_worker.domain.outcome import Verdict
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.rows import held_operands, read_verdicts
from echomq_worker.protocol.scripts import script
from echomq_worker.store.connect import connection_settings, pass_the_fence_blocking
from echomq_worker.store.options import ServerOptions
from echomq_worker.store.translate import translated_errors


class BlockingExtender:
    """Extends leases synchronously. For one thread at a time; a lock sees to that."""

    def __init__(self, options: ServerOptions) -> None:
        self._own_version = options.wire_version
        settings = connection_settings(options) | {
            "retry": Retry(NoBackoff(), 0),
            "redis_connect_func": self._on_connect,
        }
        if options.client_name:
            settings["client_name"] = f"{options.client_name}:leases"
        self._gate = options.gate
        self._connected = False
        self._client: Redis = Redis.from_url(options.url, max_connections=1, **settings)
        self._lock = threading.Lock()

    def open(self) -> None:
        """Connect, so that no lease depends on whether the server has room for a client later.

        Raises:
            ServerError: or one of its kinds; extending tries again.
        """
        with self._lock, translated_errors():
            self._connect()

    def extend(self, queue: str, held: Sequence[Held], lease_ms: int) -> list[Verdict]:
        """Push the leases of one queue's jobs back to `lease_ms` from now.

        Returns:
            One verdict a job: OK, GONE or STALE.

        Raises:
            ServerError: or one of its kinds; asking again is safe.
        """
        keys = Keyspace(queue)
        bound = script("extend").bind({"root": keys.root, "active": keys.active})
        operands = bound.operands({"lease_ms": lease_ms}, held_operands(held))
        with self._lock, translated_errors():
            return read_verdicts(self._send(bound.script.sha, bound.script.source, operands))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _connect(self) -> None:
        if not self._connected:
            with self._gate.turn_blocking():
                pool = self._client.connection_pool
                pool.release(pool.get_connection())
            self._connected = True

    def _on_connect(self, connection: AbstractConnection) -> None:
        connection.on_connect()
        pass_the_fence_blocking(connection, self._own_version)

    def _send(self, sha: str, source: str, operands: list[Any]) -> bytes:
        self._connect()
        try:
            return cast("bytes", self._client.execute_command("EVALSHA", sha, *operands))
        except NoScriptError:
            return cast("bytes", self._client.execute_command("EVAL", source, *operands))
        except ReadOnlyError:
            self._client.connection_pool.disconnect()
            self._connected = False
            raise
        except (OSError, NotConnectedError, TooLateError):
            self._connected = False
            raise
