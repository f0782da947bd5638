"""A middleman that refuses commands in the server's name, or leaves them without an answer."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self, cast

import hiredis

from echomq_worker.protocol.scripts import script
from tests.support.proxy import CHUNK, connect

Words = Sequence[bytes]
About = Callable[[str, Words], bool]
"""Tells from a connection's use and a command whether it is meant."""

_MANNERS = frozenset({b"CLIENT", b"SELECT", b"HELLO", b"AUTH"})
"""What every new connection begins with."""


def all_of_them(_use: str, words: Words) -> bool:
    """Mean every command but those by which a connection begins."""
    return words[0].upper() not in _MANNERS


def on(*uses: str) -> About:
    """Mean all commands of connections for these uses."""
    return lambda use, words: use in uses and all_of_them(use, words)


def calls_of(*names: str) -> About:
    """Mean the calls of these scripts."""
    known = {word for name in names for word in (script(name).sha, script(name).source)}
    texts = {word.encode() for word in known}
    return lambda _use, words: len(words) > 1 and words[1] in texts


class Grumpy:
    """Passes everything on between clients and a server, until it is told otherwise."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        """The URL of the server."""
        self.shut = False
        """True closes every connection as soon as it is made."""
        self.asked_at: list[float] = []
        """When each connection was asked for, by the monotonic clock."""
        self.heard: list[tuple[str, Words]] = []
        """Every command so far, and the use of its connection."""
        self.made: Counter[str] = Counter()
        """How many connections there were for each use."""
        self.patience_s: float | None = None
        """Connections on which nothing moved for longer are dropped, and nobody is told."""
        self.dropped: list[str] = []
        """The uses of connections that were dropped so."""
        self._text = ""
        self._about: About | None = None
        self._links: set[_Link] = set()
        self._server: asyncio.Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"redis://127.0.0.1:{self._port}/0"

    def refuse(self, text: str, about: About = all_of_them) -> None:
        """Answer commands by an error from now on."""
        self._text, self._about = text, about

    def ignore(self, about: About = all_of_them) -> None:
        """Swallow commands from now on, and keep back what the server says meanwhile."""
        self.refuse("", about)

    def relent(self) -> None:
        """Pass everything on again; what was swallowed stays lost."""
        self._about = None

    def close_all(self) -> None:
        """Close every connection."""
        for link in list(self._links):
            link.close()

    def uses(self) -> list[str]:
        """Return what the open connections are for."""
        return sorted(link.use for link in self._links)

    def answer(self, use: str, words: Words) -> str | None:
        """Return how to refuse a command, empty for not at all; None if it is passed on."""
        about = self._about
        return self._text if about is not None and about(use, words) else None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_exc: object) -> None:
        assert self._server is not None
        self._server.close()
        self.close_all()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._server.wait_closed(), 2)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked_at.append(time.monotonic())
        if self.shut:
            writer.close()
            return
        try:
            upstream = await connect(self.upstream)
        except OSError:
            writer.close()
            return
        link = _Link(self, (reader, writer), upstream)
        self._links.add(link)
        try:
            await link.run()
        finally:
            self._links.discard(link)


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Link:
    """One client's connection."""

    def __init__(self, grumpy: Grumpy, client: Stream, server: Stream) -> None:
        self.use = ""
        """The last part of the name that the client has given it."""
        self._grumpy = grumpy
        self._client = client
        self._server = server
        self._commands = hiredis.Reader()
        self._silent = False
        self._moved_at = time.monotonic()
        self._last: Words = ()

    async def run(self) -> None:
        tasks = [asyncio.create_task(self._requests()), asyncio.create_task(self._replies())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.close()

    def close(self) -> None:
        for _, writer in (self._client, self._server):
            writer.close()

    async def _requests(self) -> None:
        while data := await self._client[0].read(CHUNK):
            self._commands.feed(data)
            answers = [self._judge(words) for words in self._complete()]
            if self._is_dropped() or "" in answers:
                continue
            if any(answers):
                self._client[1].write("".join(f"-{text}\r\n" for text in answers).encode())
                continue
            self._server[1].write(data)
            await self._server[1].drain()

    async def _replies(self) -> None:
        while data := await self._server[0].read(CHUNK):
            if self._is_dropped() or self._grumpy.answer(self.use, self._last) == "":
                continue
            self._client[1].write(data)
            await self._client[1].drain()

    def _complete(self) -> list[Words]:
        found: list[Words] = []
        while (words := self._commands.gets()) is not False:
            found.append(cast("Words", words))
        return found

    def _judge(self, words: Words) -> str | None:
        self._last = words
        if [word.upper() for word in words[:2]] == [b"CLIENT", b"SETNAME"]:
            self.use = words[2].decode().rpartition(":")[2]
            self._grumpy.made[self.use] += 1
        self._grumpy.heard.append((self.use, words))
        return self._grumpy.answer(self.use, words)

    def _is_dropped(self) -> bool:
        patience_s, now_s = self._grumpy.patience_s, time.monotonic()
        if not self._silent and patience_s is not None and now_s - self._moved_at > patience_s:
            self._silent = True
            self._grumpy.dropped.append(self.use)
        self._moved_at = now_s
        return self._silent
