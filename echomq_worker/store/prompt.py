"""Connections that heed a cancellation, and take turns when they are made.

The client library sends with `asyncio.wait_for`, which in Python 3.11 drops a cancellation that
comes in the turn of the loop in which the sending is done: whoever was told to stop would go on. It
also makes a task for each command.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from redis.asyncio.connection import (
    AbstractConnection,
    Connection,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.exceptions import ConnectionError as ClosedError
from redis.exceptions import TimeoutError as TooLateError

from echomq_worker.store.gate import ConnectGate


class _Prompt(AbstractConnection):
    def __init__(self, *, gate: ConnectGate, **settings: Any) -> None:  # noqa: ANN401 - the library's own
        super().__init__(**settings)
        self._gate = gate

    async def connect_check_health(
        self,
        check_health: bool = True,  # noqa: FBT001, FBT002 - the library's signature
        retry_socket_connect: bool = True,  # noqa: FBT001, FBT002 - likewise
    ) -> None:
        """Connect, when it is this connection's turn."""
        if not self.is_connected:
            async with self._gate.turn():
                await super().connect_check_health(check_health, retry_socket_connect)

    async def send_packed_command(
        self,
        command: bytes | str | Iterable[bytes],
        check_health: bool = True,  # noqa: FBT001, FBT002 - the library's signature
    ) -> None:
        """Send a packed command; what fails closes the connection."""
        if not self.is_connected:
            await self.connect_check_health(check_health=False)
        if check_health:
            await self.check_health()
        try:
            await self._send(command.encode() if isinstance(command, str) else command)
        except TimeoutError:
            await self.disconnect(nowait=True)
            msg = "Timeout writing to socket"
            raise TooLateError(msg) from None
        except OSError as error:
            await self.disconnect(nowait=True)
            msg = f"Error while writing to socket: {error}"
            raise ClosedError(msg) from error
        except BaseException:
            await self.disconnect(nowait=True)
            raise

    async def _send(self, command: bytes | Iterable[bytes]) -> None:
        writer = self._writer
        if writer is None:
            msg = "the connection was closed meanwhile"
            raise ConnectionResetError(msg)
        async with asyncio.timeout(self.socket_timeout):
            writer.writelines([command] if isinstance(command, bytes) else command)
            await writer.drain()


class PromptConnection(_Prompt, Connection):
    """Over TCP."""


class PromptSSLConnection(_Prompt, SSLConnection):
    """Over TLS."""


class PromptUnixConnection(_Prompt, UnixDomainSocketConnection):
    """Over a unix socket."""


PROMPT: Mapping[type[AbstractConnection], type[AbstractConnection]] = {
    Connection: PromptConnection,
    SSLConnection: PromptSSLConnection,
    UnixDomainSocketConnection: PromptUnixConnection,
}
"""What to use in place of the library's own."""
