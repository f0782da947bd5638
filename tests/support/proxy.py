"""A proxy between the store and a server, which cuts connections where a test wants it."""

import asyncio
import socket
import struct
from collections import Counter, deque
from contextlib import suppress
from enum import Enum
from random import Random
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

from echomq_worker.protocol.scripts import script

CHUNK = 1 << 20
_RESET = struct.pack("ii", 1, 0)
"""Linger for no time: closing sends a reset instead of an end."""


class Cut(Enum):
    """Where a connection is cut."""

    BEFORE_SEND = "the server never sees the call"
    AFTER_SEND = "the server gets the call, and the connection is gone before it can answer"
    AFTER_APPLY = "the server has answered, and the answer is dropped"
    AFTER_REPLY = "the client has the answer, and the connection is gone then"
    HELD = "the client is cut off, and the call reaches the server when the test releases it"


class Stall(Enum):
    """Where a call stops with its connection open, so that a test can do something meanwhile."""

    BEFORE_SEND = "the server has not seen the call"
    AFTER_APPLY = "the server has answered, and the client waits for the answer"


class Proxy:
    """Listens on a port of its own and passes everything on, but for what a test has planned."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        """The URL of the server; may be changed while the proxy runs."""
        self.delay_s = 0.0
        """How long each reply is held up."""
        self.request_delay_s = 0.0
        """How long each call is held up on its way to the server."""
        self.reset_share = 0.0
        """With what probability a call is reset: before or after the server has done it."""
        self.dice = Random(0)
        """Draws the resets."""
        self.tries: Counter[str] = Counter()
        """How many times each script was called, from its first plan on."""
        self.stalled = asyncio.Event()
        """Set when a call stands still, as `stall` has asked for."""
        self.deaf = False
        """True swallows everything both ways, and closes nothing."""
        self._plans: dict[bytes, deque[Cut]] = {}
        self._names: dict[bytes, str] = {}
        self._stalls: dict[bytes, Stall] = {}
        self._go_on = asyncio.Event()
        self._held: list[tuple[bytes, str]] = []
        self._links: set[_Link] = set()
        self._server: asyncio.Server | None = None
        self._up = True
        self._port = 0

    @property
    def url(self) -> str:
        """Where clients connect."""
        parts = urlsplit(self.upstream)
        user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
        of_socket = parse_qs(parts.query).get("db", ["0"])[0]
        database = of_socket if parts.scheme == "unix" else parts.path.strip("/") or "0"
        return f"redis://{user}127.0.0.1:{self._port}/{database}"

    def cut(self, script_name: str, *cuts: Cut) -> None:
        """Plan what happens to the next calls of a script; those after them go well."""
        sha = script(script_name).sha.encode()
        self._names[sha] = script_name
        self._plans.setdefault(sha, deque()).extend(cuts)

    def stall(self, script_name: str, stall: Stall) -> None:
        """Let the next call of a script stand still until `go_on`, or until its client has gone."""
        self._stalls[script(script_name).sha.encode()] = stall
        self.stalled.clear()
        self._go_on.clear()

    def go_on(self) -> None:
        """Let what stands still go on."""
        self._go_on.set()

    def go_down(self) -> None:
        """Cut every connection and refuse new ones."""
        self._up = False
        for link in list(self._links):
            link.close()

    def come_up(self) -> None:
        """Accept connections again."""
        self._up = True

    async def release(self) -> None:
        """Let the held calls reach the server, each on a connection of its own."""
        for data, upstream in self._held:
            reader, writer = await connect(upstream)
            writer.write(data)
            await reader.read(CHUNK)
            writer.close()
        self._held.clear()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_exc: object) -> None:
        assert self._server is not None
        self._server.close()
        self.go_down()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._server.wait_closed(), 2)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._up:
            writer.close()
            return
        try:
            link = _Link(self, (reader, writer), await connect(self.upstream))
        except OSError:
            writer.close()
            return
        self._links.add(link)
        try:
            await link.run()
        finally:
            self._links.discard(link)

    def plan_for(self, data: bytes) -> Cut | None:
        """Return what is to happen to this call; None if it goes well."""
        for sha, cuts in self._plans.items():
            if sha in data:
                self.tries[self._names[sha]] += 1
                if cuts:
                    return cuts.popleft()
        if self.reset_share and self.dice.random() < self.reset_share:
            return self.dice.choice((Cut.BEFORE_SEND, Cut.AFTER_SEND, Cut.AFTER_APPLY))
        return None

    def stall_for(self, data: bytes) -> Stall | None:
        """Return where this call is to stand still; None if nowhere."""
        found = next((sha for sha in self._stalls if sha in data), None)
        return None if found is None else self._stalls.pop(found)

    async def stand_still(self) -> None:
        """Wait until the test lets things go on."""
        self.stalled.set()
        await self._go_on.wait()

    def hold(self, data: bytes) -> None:
        """Keep a call for later."""
        self._held.append((data, self.upstream))


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Link:
    """One client's connection."""

    def __init__(self, proxy: Proxy, client: Stream, server: Stream) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._plan: Cut | None = None
        self._stall: Stall | None = None

    async def run(self) -> None:
        tasks = [asyncio.create_task(self._requests()), asyncio.create_task(self._replies())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._plan is not Cut.AFTER_REPLY:  # which an end must follow, so that it is read
            self._reset()
        self.close()

    def close(self) -> None:
        for _, writer in (self._client, self._server):
            writer.close()

    def _reset(self) -> None:
        if self._proxy.reset_share and not self._client[1].is_closing():
            sock: socket.socket = self._client[1].get_extra_info("socket")
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    async def _requests(self) -> None:
        while data := await self._client[0].read(CHUNK):
            if self._proxy.deaf:
                continue
            self._stall = self._proxy.stall_for(data)
            if self._stall is Stall.BEFORE_SEND:
                await self._proxy.stand_still()
                if self._client[0].at_eof():
                    return
            if self._proxy.request_delay_s:
                await asyncio.sleep(self._proxy.request_delay_s)
            plan = self._plan = self._proxy.plan_for(data)
            if plan is Cut.BEFORE_SEND:
                return
            if plan is Cut.HELD:
                self._proxy.hold(data)
                return
            self._server[1].write(data)
            await self._server[1].drain()
            if plan is Cut.AFTER_SEND:
                return

    async def _replies(self) -> None:
        while data := await self._server[0].read(CHUNK):
            if self._plan is Cut.AFTER_APPLY:
                return
            if self._stall is Stall.AFTER_APPLY:
                self._stall = None
                await self._proxy.stand_still()
            if self._proxy.delay_s:
                await asyncio.sleep(self._proxy.delay_s)
            if self._proxy.deaf:
                continue
            self._client[1].write(data)
            await self._client[1].drain()
            if self._plan is Cut.AFTER_REPLY:
                return


async def connect(url: str) -> Stream:
    """Open a plain connection to the server that a URL names."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return await asyncio.open_unix_connection(unquote(parts.path))
    return await asyncio.open_connection(parts.hostname or "127.0.0.1", parts.port or 6379)
