"""Calls of the scripts about schedulers: those that only look, and those that leave a receipt."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Protocol

from echomq_worker.errors import UnavailableError
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.scripts import Operand, script
from echomq_worker.store.calls import Caller
from echomq_worker.store.wire import Reply, Wire, ask_again, run_script


class Verify(Protocol):
    """Checks that the queue is laid out as we write it."""

    def __call__(self, *, claim: bool) -> Awaitable[None]:
        """Do so; `claim` marks a queue that has no mark."""
        ...


class SchedulerCalls:
    """Runs scripts on one queue; what is not answered is asked again."""

    def __init__(self, keys: Keyspace, wire: Wire, verify: Verify, caller: Caller) -> None:
        self._keys = keys
        self._wire = wire
        self._verify = verify
        self._caller = caller
        self._turn = asyncio.Lock()

    async def ask(
        self, name: str, args: Mapping[str, Operand], rest: Sequence[Operand] = ()
    ) -> Reply:
        """Make a call that is harmless to repeat, and harmless if it comes late."""
        return await ask_again(lambda: self._run(name, args, rest, claim=False))

    async def numbered(
        self,
        name: str,
        args: Mapping[str, Operand],
        rest: Sequence[Operand] = (),
        *,
        claim: bool = False,
    ) -> Reply:
        """Make a call that leaves a receipt: its repetition, and a late original, change nothing.

        Args:
            name: of the script.
            args: what it takes, but who calls.
            rest: its tail.
            claim: whether it may be the first to write to the queue.
        """
        async with self._turn:
            number = self._caller.next_number()
            numbered: dict[str, Operand] = {
                "caller": self._caller.name,
                "call_number": number,
                "again": "0",
                **args,
            }

            async def once() -> Reply:
                try:
                    return await self._run(name, numbered, rest, claim=claim)
                except UnavailableError:
                    numbered["again"] = "1"
                    raise

            with self._caller.one_call(number):
                return await ask_again(once)

    async def _run(
        self, name: str, args: Mapping[str, Operand], rest: Sequence[Operand], *, claim: bool
    ) -> Reply:
        found = script(name)
        bound = found.bind({key: getattr(self._keys, key) for key in found.keys})
        await self._verify(claim=claim)
        return await run_script(self._wire, bound, args, rest)
