"""A proxy that holds one call: the moment at which a fault is to strike."""

import asyncio
from collections.abc import Sequence
from enum import Enum
from typing import Self

from echomq_worker.protocol.scripts import script
from tests.support.proxy import CHUNK, Stream, connect

BEAT = script("beat").sha.encode()


class Fate(Enum):
    """What becomes of the call that is held."""

    ANSWERED = "it goes on, and is answered"
    LOST = "the connection is cut before the server sees the call"
    UNHEARD = "the server carries it out, and the connection is cut instead of an answer"


class Gate:
    """Passes everything on between a client and a server, but for the call that it traps."""

    def __init__(self, upstream: str) -> None:
        self.caught = asyncio.Event()
        """Set while the call is held, and from then on."""
        self.awake = asyncio.Event()
        """Set when a worker has beaten behind this gate."""
        self.deaf = False
        """True swallows everything both ways, and closes nothing."""
        self.delay_s = 0.0
        """How long whatever passes is held up, each way."""
        self._upstream = upstream
        self._trap: tuple[list[bytes], bytes] | None = None
        self._fate: asyncio.Future[Fate] = asyncio.get_running_loop().create_future()
        self._streams: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        """Where the client connects."""
        return f"redis://127.0.0.1:{self._port}/0"

    def trap(self, calls: Sequence[str], word: str = "") -> None:
        """Hold the calls of these scripts that have this word in them, repeats as well."""
        self._trap = [script(call).sha.encode() for call in calls], word.encode()

    def let_go(self, fate: Fate = Fate.ANSWERED) -> None:
        """Let the held call meet its fate."""
        if not self._fate.done():
            self._fate.set_result(fate)

    def cut(self) -> None:
        """Cut every connection."""
        for writer in self._streams:
            writer.close()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self.let_go(Fate.LOST)
        self._server.close()
        self.cut()

    async def _serve(self, *client: asyncio.StreamReader | asyncio.StreamWriter) -> None:
        near_reader, near = client
        assert isinstance(near_reader, asyncio.StreamReader)
        assert isinstance(near, asyncio.StreamWriter)
        self._streams.add(near)
        try:
            far_reader, far = await connect(self._upstream)
            self._streams.add(far)
            await self._link((near_reader, near), (far_reader, far))
            far.close()
            self._streams.discard(far)
        except OSError:
            pass
        finally:
            near.close()
            self._streams.discard(near)

    async def _link(self, near: Stream, far: Stream) -> None:
        mute = asyncio.Event()
        both = [
            asyncio.create_task(self._requests(near, far, mute)),
            asyncio.create_task(self._replies(near, far, mute)),
        ]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)

    async def _requests(self, near: Stream, far: Stream, mute: asyncio.Event) -> None:
        while data := await near[0].read(CHUNK):
            if BEAT in data:
                self.awake.set()
            if self._is_it(data):
                self.caught.set()
                fate = await self._fate
                if fate is Fate.LOST:
                    return
                if fate is Fate.UNHEARD:
                    mute.set()
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            if not self.deaf:
                far[1].write(data)
                await far[1].drain()

    async def _replies(self, near: Stream, far: Stream, mute: asyncio.Event) -> None:
        while data := await far[0].read(CHUNK):
            if mute.is_set():
                return
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            if not self.deaf:
                near[1].write(data)
                await near[1].drain()

    def _is_it(self, data: bytes) -> bool:
        if self._trap is None:
            return False
        hashes, word = self._trap
        return not self._fate.done() and word in data and any(sha in data for sha in hashes)
