"""Repeating registrations of the base wire, which another runtime's pump fires too.

Fired here, an occurrence is claimed, enqueued and moved on at one moment, so that no number of our
workers makes it twice. A pump of the other runtime does so in several calls: while one serves the
same queue, an occurrence may still come twice. Let one side fire, its pump or our workers.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.repeats import (
    RepeatsFired,
    RepeatView,
    check_repeat_ms,
    check_repeat_name,
)
from echomq_worker.protocol.rows import read_ms
from echomq_worker.protocol.scripts import Operand
from echomq_worker.store.wire import Reply

MOST_FIRED = 500
"""So many registrations fire in one call at most."""

Change = Callable[[str, Mapping[str, Operand], Sequence[Operand]], Awaitable[Reply]]
"""Runs a script of the queue, by name; asked again if it was not answered."""


class RepeatStore:
    """The repeating registrations of one queue. Reached as `QueueStore.repeats`.

    Every method raises `ServerError` (or one of its kinds) if the server refuses or is silent. All
    are safe to repeat.
    """

    def __init__(self, change: Change, log_size: int) -> None:
        self._change = change
        self._log_size = log_size

    async def register(
        self, name: str, every_ms: int, template: bytes, first_in_ms: int = 0
    ) -> bool:
        """Let a raw job be made again and again.

        Args:
            name: 1 to 200 visible ASCII characters.
            every_ms: the interval, from 1 ms.
            template: the payload of each job.
            first_in_ms: how long until the first one, by the server's clock.

        Returns:
            False if the name is registered already: then nothing was changed.

        Raises:
            InvalidArgumentError: for a name or a number that cannot be used.
        """
        args: dict[str, Operand] = {
            "name": check_repeat_name(name),
            "every_ms": check_repeat_ms("every_ms", every_ms, 1),
            "first_in_ms": check_repeat_ms("first_in_ms", first_in_ms, 0),
            "template": template,
        }
        return await self._change("repeat_register", args, ()) == 1

    async def cancel(self, name: str) -> bool:
        """Take a registration away, with its record; False if there was none."""
        return await self._change("repeat_cancel", {"name": _raw(name)}, ()) == 1

    async def advance(self, name: str, next_ms: int) -> bool:
        """Let a registration fire next at `next_ms` (Unix ms); False if there is none."""
        args: dict[str, Operand] = {
            "name": _raw(name),
            "next_ms": check_repeat_ms("next_ms", next_ms, 0),
        }
        return await self._change("repeat_advance", args, ()) == 1

    async def list(self, limit: int = 1_000, *, offset: int = 0) -> Sequence[RepeatView]:
        """Return registrations, the earliest first."""
        return [_view(each) for each in (await self._read("all", offset, limit))[2]]

    async def due(self, limit: int) -> Sequence[RepeatView]:
        """Return at most `limit` registrations whose time has come."""
        return [_view(each) for each in (await self._read("due", 0, limit))[2]]

    async def count(self) -> int:
        """Return how many registrations there are."""
        return (await self._read("all", 0, 0))[1]

    async def fire(self, ids: Sequence[JobId]) -> RepeatsFired:
        """Fire registrations that are due, no more than there are ids.

        Each makes a raw job with the payload of its template. Its next time is one interval later;
        what was missed meanwhile is one job. One whose record cannot be used is moved out of the
        way for a week, with a note in quarantine, and the others fire.

        Args:
            ids: fresh ids, at most 500 of which are used; one that is taken is passed over.

        Raises:
            InvalidIdError: before anything is sent, if one of them is no id.
            OutOfMemoryError: the server is full; nothing was changed.
        """
        for job_id in ids:
            parse_id(job_id)
        args: dict[str, Operand] = {"log_size": self._log_size}
        reply = await self._change("fire_repeats", args, list(ids[:MOST_FIRED]))
        now_ms, next_ms, fired, moved = reply
        return RepeatsFired(
            now_ms=now_ms,
            next_ms=read_ms(next_ms),
            fired=tuple(
                (_text(name), JobId(job_id.decode()))
                for name, job_id in zip(fired[::2], fired[1::2], strict=True)
            ),
            set_aside=tuple(
                (_text(name), reason.decode())
                for name, reason in zip(moved[::2], moved[1::2], strict=True)
            ),
        )

    async def _read(self, which: str, offset: int, limit: int) -> Reply:
        args: dict[str, Operand] = {"which": which, "offset": offset, "limit": limit}
        return await self._change("repeat_list", args, ())


def _view(found: Sequence[bytes | None]) -> RepeatView:
    name, next_ms, every_ms, template, problem = found
    is_number = every_ms is not None and every_ms.isdigit() and int(every_ms) > 0
    return RepeatView(
        name=_text(name or b""),
        next_ms=float(next_ms or b"inf"),
        every_ms=int(every_ms) if every_ms is not None and is_number else None,
        template=template,
        problem=(problem or b"").decode(),
    )


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
