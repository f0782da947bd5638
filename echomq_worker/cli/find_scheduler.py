"""Finding a scheduler, or a repeating registration of the base wire, by its name."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.find import find_queues
from echomq_worker.cli.words import near_misses
from echomq_worker.domain.queue_name import QueueWeight
from echomq_worker.domain.repeats import RepeatView
from echomq_worker.domain.scheduling.records import SchedulerView
from echomq_worker.errors import CorruptSchedulerError
from echomq_worker.store import QueueStore, Server

PAGE = 500
"""So many are read at once."""


@dataclass(frozen=True, slots=True)
class Found:
    """A scheduler, or a registration of the base wire, and the queue it is in."""

    queue: str
    name: str
    scheduler: SchedulerView | None = None
    repeat: RepeatView | None = None

    def only_scheduler(self, verb: str) -> SchedulerView:
        """Return the scheduler; raise `CommandError` if it is something of the base wire."""
        if self.scheduler is None:
            msg = (
                f"{self.name} in queue {self.queue} is a repeating registration of the base wire, "
                f"which cannot be {verb}: it has an interval and a payload, and nothing else"
            )
            raise CommandError(msg, ExitCode.REFUSED, hint=f"echomq schedule remove {self.name}")
        return self.scheduler

    def readable(self) -> SchedulerView:
        """Return the scheduler if what is stored of it can be read."""
        view = self.only_scheduler("foretold")
        if view.spec is None:
            msg = f"scheduler {self.name} in queue {self.queue} cannot be read: {view.problem}"
            raise CorruptSchedulerError(msg)
        return view


async def find_scheduler(
    server: Server, name: str, queue: str | None, configured: Iterable[QueueWeight]
) -> Found:
    """Return what has a name, a scheduler rather than a registration of the base wire.

    Args:
        server: where to look.
        name: its name.
        queue: the only queue to look into; None looks into all.
        configured: the queues of the settings.

    Raises:
        CommandError: if there is none of that name, or one in several queues.
    """
    queues = await find_queues(server, [queue] if queue else [], configured)
    looks = await asyncio.gather(*(_look(server.queue(each), name) for each in queues))
    found = [each for each in looks if each is not None]
    found = [each for each in found if each.scheduler is not None] or found
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(each.queue for each in found)
        msg = f"there is a scheduler {name!r} in several queues: {places}"
        raise CommandError(msg, ExitCode.USAGE, hint="say --queue")
    known = [each for store in queues for each in await _names(server.queue(store))]
    msg = f"there is no scheduler {name!r} in {', '.join(queues)}.{near_misses(name, known)}"
    raise CommandError(msg, ExitCode.NOT_FOUND)


async def _look(store: QueueStore, name: str) -> Found | None:
    if (view := await store.schedulers.get(name)) is not None:
        return Found(store.name, name, scheduler=view)
    offset = 0
    while page := await store.repeats.list(PAGE, offset=offset):
        for repeat in page:
            if repeat.name == name:
                return Found(store.name, name, repeat=repeat)
        offset += len(page)
    return None


async def _names(store: QueueStore) -> list[str]:
    return [view.name for view in await store.schedulers.list(PAGE)]
