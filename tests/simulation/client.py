"""What a client of the simulated network holds: connections that look like the library's."""

import asyncio
from typing import Any

from redis.exceptions import ConnectionError as CutError
from redis.exceptions import TimeoutError as TooLateError

from tests.simulation.network import Network
from tests.simulation.server import pack

TIMEOUT_MS = 1_500


class Link:
    """One connection."""

    def __init__(self, client: "SimulatedClient") -> None:
        self._client = client
        self._network = client.network
        self.owner = client.owner
        self.socket_timeout: float | None = TIMEOUT_MS / 1_000
        self.client_name: str | None = None
        self.is_connected = False
        self._answer: asyncio.Future[Any] | None = None

    async def connect(self) -> None:
        if self.is_connected:
            return
        network = self._network
        await asyncio.sleep(network.latency_ms() / 1_000)
        if network.over or network.condition == "down" or self.owner in network.cut_off:
            msg = "Error 111 connecting to simulated:1. Connection refused."
            raise CutError(msg)
        self.is_connected = True
        network.links.append(self)
        self._client.epoch += 1

    async def send_packed_command(self, packed: bytes, *, check_health: bool = True) -> None:
        del check_health
        await self.connect()
        self._answer = self._network.send(self, packed)

    async def read_response(self) -> Any:
        assert self._answer is not None
        try:
            async with asyncio.timeout(self.socket_timeout):
                return await self._answer
        except TimeoutError:
            msg = "Timeout reading from socket"
            raise TooLateError(msg) from None
        finally:
            self._answer = None

    async def disconnect(self, *, nowait: bool = False) -> None:
        del nowait
        self.close()

    def close(self) -> None:
        """Close it from this side."""
        self.is_connected = False
        network = self._network
        if self in network.links:
            network.links.remove(self)
        network.waiters = [waiter for waiter in network.waiters if waiter.link is not self]

    def break_off(self) -> None:
        """Close it from the server's side."""
        answer = self._answer
        self.close()
        if answer is not None and not answer.done():
            answer.set_exception(CutError("Connection closed by server."))


class SimulatedClient:
    """Stands where the client library's client stands."""

    def __init__(self, network: Network, owner: str) -> None:
        self.network = network
        self.owner = owner
        self.epoch = 0
        self.connection_pool = self
        self._idle: list[Link] = []

    def make_connection(self) -> Link:
        return Link(self)

    async def disconnect(self, *, inuse_connections: bool = True) -> None:
        """Drop the connections that nobody uses."""
        del inuse_connections
        while self._idle:
            self._idle.pop().close()

    async def execute_command(self, *parts: Any) -> Any:
        link = self._idle.pop() if self._idle else Link(self)
        try:
            await link.send_packed_command(pack(parts))
            reply = await link.read_response()
        except BaseException as error:
            if isinstance(error, CutError | TooLateError | asyncio.CancelledError):
                link.close()
            else:
                self._idle.append(link)
            raise
        self._idle.append(link)
        return reply
