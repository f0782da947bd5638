"""Breaks things, one fault at a time of each part."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import redis

from tests.chaos.fleet import Post
from tests.chaos.pen import now_ms
from tests.chaos.plan import KILL_SERVER, KILL_WORKER, Fault
from tests.chaos.scene import Scene

SKEW_S = 3600
TINY_MEMORY = "1mb"
LONGEST_START_S = 5
"""So long a kill waits until its victim has jobs in hand."""


@dataclass(slots=True)
class Breaker:
    """Does what the plan says."""

    scene: Scene
    done: Counter[str] = field(default_factory=Counter[str])
    """How many faults of each name there were."""
    outages: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """When the server was away, stood still or was full (Unix ms)."""
    _server: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def do(self, fault: Fault) -> None:
        """Break something, and mend what has to be mended."""
        acts: dict[str, Callable[[Fault], Awaitable[bool]]] = {
            KILL_WORKER: self._kill_worker,
            KILL_SERVER: self._kill_server,
            "stop worker (SIGTERM)": self._deploy,
            "freeze worker": self._freeze_worker,
            "black hole": self._black_hole,
            "refuse connections": self._refuse,
            "cut connections": self._cut,
            "slow link": self._slow,
            "kill producer": self._kill_producer,
            "freeze server": self._freeze_server,
            "kick all clients": self._kick,
            "flush scripts": self._flush,
            "memory full": self._fill,
            "skew clock": self._skew,
            "block event loop": self._block,
        }
        self.scene.journal.note("fault", name=fault.name, lasts_s=round(fault.lasts_s, 3))
        if await acts[fault.name](fault):
            self.done[fault.name] += 1

    def _victim(self, fault: Fault) -> Post:
        """Any worker but the first, whose memory is watched over the whole run."""
        workers = self.scene.workers
        return workers[1 + fault.pick % (len(workers) - 1)] if len(workers) > 1 else workers[0]

    async def _kill_worker(self, fault: Fault) -> bool:
        post = self._victim(fault)
        # One that has not been there for a moment has nothing to lose.
        for other in (post, *self.scene.workers[1:]):
            if other.is_up and other.age_s > 1.5:
                post = other
                break
        await self._wait_for_work(post)
        number = post.kill()
        post.keep_up()
        return number is not None

    async def _wait_for_work(self, post: Post) -> None:
        notes = self.scene.folder / f"worker-{post.start_number}.notes"
        seen, until = 0, time.monotonic() + LONGEST_START_S
        while time.monotonic() < until and post.is_up:
            size = notes.stat().st_size if notes.exists() else 0
            if 0 < seen < size:
                return
            seen = size
            await asyncio.sleep(0.1)

    async def _deploy(self, fault: Fault) -> bool:
        return self._victim(fault).send(signal.SIGTERM, ends_it=True)

    async def _freeze_worker(self, fault: Fault) -> bool:
        post = self.scene.workers[fault.pick % len(self.scene.workers)]
        frozen = post.send(signal.SIGSTOP)
        pid = post.pid
        await asyncio.sleep(fault.lasts_s)
        if post.is_up and post.pid == pid:
            post.send(signal.SIGCONT)
        return frozen

    async def _black_hole(self, fault: Fault) -> bool:
        return await self._with_proxy(fault, "deaf")

    async def _refuse(self, fault: Fault) -> bool:
        return await self._with_proxy(fault, "down")

    async def _cut(self, fault: Fault) -> bool:
        return await self._with_proxy(fault, "cut")

    async def _slow(self, fault: Fault) -> bool:
        return await self._with_proxy(fault, "slow", 0.05 + fault.pick % 300 / 1000)

    async def _with_proxy(self, fault: Fault, *order: object) -> bool:
        proxy = fault.pick % len(self.scene.proxies)
        self.scene.order(proxy, *order)
        await asyncio.sleep(fault.lasts_s)
        self.scene.order(proxy, "well")
        return True

    async def _kill_producer(self, fault: Fault) -> bool:
        if not self.scene.producers:
            return False
        return self.scene.producers[fault.pick % len(self.scene.producers)].kill() is not None

    async def _kill_server(self, fault: Fault) -> bool:
        async with self._server:
            pid, from_ms = self.scene.server.pid, now_ms()
            if pid is None:
                return False
            os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(fault.lasts_s)
            start_ms = now_ms()
            await asyncio.to_thread(self.scene.server.restart, hard=True)
            answer_ms = now_ms()
            await asyncio.to_thread(self.scene.set_up_server)
            self.outages.append((from_ms, answer_ms))
            self.scene.journal.note("server back", start_ms=start_ms, answer_ms=answer_ms)
            return True

    async def _freeze_server(self, fault: Fault) -> bool:
        async with self._server:
            pid, from_ms = self.scene.server.pid, now_ms()
            if pid is None:
                return False
            os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(fault.lasts_s)
            os.kill(pid, signal.SIGCONT)
            self.outages.append((from_ms, now_ms()))
            return True

    async def _kick(self, _fault: Fault) -> bool:
        return await self._ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    async def _flush(self, _fault: Fault) -> bool:
        return await self._ask("SCRIPT", "FLUSH")

    async def _fill(self, fault: Fault) -> bool:
        async with self._server:
            from_ms = now_ms()
            await asyncio.to_thread(self._send, "CONFIG", "SET", "maxmemory", TINY_MEMORY)
            await asyncio.sleep(fault.lasts_s)
            await asyncio.to_thread(self._send, "CONFIG", "SET", "maxmemory", "0")
            self.outages.append((from_ms, now_ms()))
            return True

    async def _skew(self, fault: Fault) -> bool:
        post = self._victim(fault)
        post.next_settings = {"CHAOS_SKEW_S": str(SKEW_S if fault.pick & 1 else -SKEW_S)}
        return post.send(signal.SIGTERM, ends_it=True)

    async def _block(self, fault: Fault) -> bool:
        if not self.scene.producers:
            return False
        return self.scene.producers[fault.pick % len(self.scene.producers)].send(signal.SIGUSR1)

    async def _ask(self, *command: str) -> bool:
        async with self._server:
            return await asyncio.to_thread(self._send, *command)

    def _send(self, *command: str) -> bool:
        with suppress(redis.RedisError), self.scene.admin() as admin:
            admin.execute_command(*command)
            return True
        return False
