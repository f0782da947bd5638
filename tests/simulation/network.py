"""Between clients and server: delays, losses, late copies, refused connections, by the dice."""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from random import Random
from typing import Any

import hiredis
from redis.exceptions import BusyLoadingError, OutOfMemoryError, ResponseError
from redis.exceptions import ConnectionError as CutError

from echomq_worker.domain.job import JobId
from tests.simulation.loop import VirtualLoop
from tests.simulation.schedules import FiredOccurrence
from tests.simulation.server import VirtualServer

EPOCH_MS = 1_790_000_000_000
"""What the server's clock shows at the start."""
NEEDS_MEMORY = ("enqueue", "schedule", "claim", "beat", "put_scheduler", "fire")
SHOWN = 40
WIDTH = 7
"""How many operands an outcome has."""
LATEST_MS = 2_000
"""A copy of a call arrives no later than that after it."""


@dataclass(eq=False)
class Waiter:
    """A client that waits for a hint."""

    keys: Sequence[bytes]
    link: Any
    answer: "asyncio.Future[Any]"


@dataclass
class Network:
    """One network with one server at its end."""

    loop: VirtualLoop
    server: VirtualServer
    dice: Random
    trace: list[str]
    fault_rate: float
    condition: str = "fine"
    """fine, down, LOADING, BUSY or OOM."""
    cut_off: set[str] = field(default_factory=set[str])
    """Whose packets vanish."""
    links: list[Any] = field(default_factory=list[Any])
    waiters: list[Waiter] = field(default_factory=list[Waiter])
    extended: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    accepted: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    """When the outcome of a job under a token was first accepted."""
    fired: list[FiredOccurrence] = field(default_factory=list[FiredOccurrence])
    over: bool = False
    epoch_ms: int = EPOCH_MS

    @property
    def now_ms(self) -> int:
        return self.epoch_ms + self.loop.now_ms

    def note(self, *words: object) -> None:
        self.trace.append(f"{self.loop.now_ms:>6} {' '.join(map(str, words))}")

    def later(self, ms: int, call: Callable[..., object], *args: Any) -> None:
        """Call in the world's own context, which nobody can freeze."""
        self.loop.call_later(ms / 1_000, call, *args, context=Context())

    def latency_ms(self) -> int:
        return 1 if self.dice.random() < 0.9 else self.dice.randint(2, 40)

    def fate(self) -> str:
        """Draw what becomes of a call."""
        if self.dice.random() >= self.fault_rate:
            return "well"
        return self.dice.choice(
            ["lost", "lost", "unanswered", "unanswered", "late", "twice", "silence", "slow"]
        )

    def go_down(self) -> None:
        """Close every connection, and refuse new ones."""
        self.condition = "down"
        for link in list(self.links):
            link.break_off()

    def send(self, link: Any, packed: bytes) -> "asyncio.Future[Any]":
        """Take a command from a client; the future gets the reply, or the error."""
        answer: asyncio.Future[Any] = self.loop.create_future()
        parts = _parse(packed)
        fate = "silence" if link.owner in self.cut_off else self.fate()
        if fate != "well":
            self.note(link.owner, fate, self.name_of(parts))
        there_ms = self.latency_ms() + (self.dice.randint(50, 900) if fate == "slow" else 0)
        if fate in ("well", "slow", "unanswered", "twice"):
            heard = answer if fate in ("well", "slow") else None
            self.later(there_ms, self.arrive, link, parts, heard)
        if fate in ("late", "twice"):
            self.later(there_ms + self.dice.randint(5, LATEST_MS), self.arrive, link, parts, None)
        if fate in ("lost", "late", "unanswered", "twice"):
            cut = CutError("Connection closed by server.")
            self.later(there_ms + self.dice.randint(0, 3), _fail, answer, cut)
        return answer

    def arrive(
        self, link: Any, parts: Sequence[bytes], answer: "asyncio.Future[Any] | None"
    ) -> None:
        """Let a command reach the server."""
        heard = answer or self.loop.create_future()
        if self.over or self.condition == "down":
            _fail(heard, CutError("Connection closed by server."))
            return
        if parts[0] == b"CLIENT":
            self.later(self.latency_ms(), _succeed, heard, self._client(link, parts))
            return
        if parts[0] == b"BLPOP":
            if answer is not None and link.is_connected:
                self._wait(Waiter(parts[1:-1], link, answer), float(parts[-1]))
            return
        try:
            reply = self.apply(link.owner, parts)
        except (ResponseError, CutError) as error:
            self.later(self.latency_ms(), _fail, heard, error)
        else:
            self.later(self.latency_ms(), _succeed, heard, reply)

    def apply(self, owner: str, parts: Sequence[bytes]) -> Any:
        """Run a script on the server now."""
        name = self.name_of(parts)
        self._refuse(owner, name)
        try:
            reply = self.server.run(self.now_ms, parts)
        except ResponseError as error:
            self.note(owner, name, "->", type(error).__name__, error)
            raise
        self.note(owner, name, _brief(name, parts), "->", reply)
        if name == "extend":
            ids = parts[-3 * len(reply) :: 3]
            self.extended += [
                (self.now_ms, id_.decode())
                for id_, said in zip(ids, reply.decode(), strict=True)
                if said == "1"
            ]
        if name == "settle":
            self._note_accepted(parts, reply[0].decode())
        if name == "fire":
            self._note_fired(parts, reply)
        self._serve_waiters()
        return reply

    def _client(self, link: Any, parts: Sequence[bytes]) -> int:
        if parts[1] == b"ID":
            return id(link)
        waiting = [waiter for waiter in self.waiters if id(waiter.link) == int(parts[2])]
        for waiter in waiting:
            self.waiters.remove(waiter)
            self.later(self.latency_ms(), _succeed, waiter.answer, None)
        return len(waiting)

    def _note_accepted(self, parts: Sequence[bytes], verdicts: str) -> None:
        first = len(parts) - WIDTH * len(verdicts)
        for at, verdict in zip(range(first, len(parts), WIDTH), verdicts, strict=True):
            if verdict == "1":
                found = (parts[at + 1].decode(), int(parts[at + 2]))
                self.accepted.setdefault(found, self.now_ms)

    def _note_fired(self, parts: Sequence[bytes], words: Sequence[bytes]) -> None:
        at = 3 + int(parts[2]) + 1
        for word in words:
            name, size = parts[at].decode(), int(parts[at + 8])
            pairs = parts[at + 9 : at + 9 + 2 * size]
            self.fired += [
                FiredOccurrence(self.now_ms, name, int(instant), JobId(id_.decode()))
                for verdict, id_, instant in zip(
                    word.decode(), pairs[::2], pairs[1::2], strict=False
                )
                if verdict == "1"
            ]
            at += 9 + 2 * size

    def name_of(self, parts: Sequence[bytes]) -> str:
        if not parts[0].startswith(b"EVAL"):
            return parts[0].decode()
        return self.server.names[self.server.sha_of(parts)]

    def _refuse(self, owner: str, name: str) -> None:
        if self.condition != "fine" and (self.condition != "OOM" or name in NEEDS_MEMORY):
            self.note(owner, name, "->", self.condition)
        if self.condition == "LOADING":
            text = "Redis is loading the dataset in memory"
            raise BusyLoadingError(text)
        if self.condition == "BUSY":
            raise _coded(ResponseError("Redis is busy running a script."), "BUSY")
        if self.condition == "OOM" and name in NEEDS_MEMORY:
            text = "command not allowed when used memory > 'maxmemory'."
            raise _coded(OutOfMemoryError(text), "OOM")

    def _wait(self, waiter: Waiter, seconds: float) -> None:
        self.waiters.append(waiter)
        self._serve_waiters()
        if waiter in self.waiters:
            self.later(int(seconds * 1_000), self._give_up, waiter)

    def _give_up(self, waiter: Waiter) -> None:
        if waiter in self.waiters:
            self.waiters.remove(waiter)
            _succeed(waiter.answer, None)

    def _serve_waiters(self) -> None:
        if not self.waiters:
            return
        keys = sorted({key for waiter in self.waiters for key in waiter.keys})
        if self.server.ask("EXISTS", *keys) == 0:
            return
        for waiter in list(self.waiters):
            for key in waiter.keys:
                if (token := self.server.ask("LPOP", key)) is not None:
                    self.waiters.remove(waiter)
                    self.note(waiter.link.owner, "hears", key.decode())
                    self.later(self.latency_ms(), _succeed, waiter.answer, [key, token])
                    break


def _coded(error: ResponseError, code: str) -> ResponseError:
    error.status_code = code
    return error


def _parse(packed: bytes) -> list[bytes]:
    reader = hiredis.Reader()
    reader.feed(packed)
    return reader.gets()  # pyright: ignore[reportReturnType]


def _brief(name: str, parts: Sequence[bytes]) -> str:
    keys = int(parts[2])
    shown = parts[3 + keys :][
        : 14 if name == "beat" else SHOWN
    ]  # what a worker says about itself differs between processes
    return b" ".join(part[:24] for part in shown).decode("utf-8", "replace")


def _succeed(answer: "asyncio.Future[Any]", reply: Any) -> None:
    if not answer.done():
        answer.set_result(reply)


def _fail(answer: "asyncio.Future[Any]", error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
