"""`echomq job priority` and `echomq job move`: let a job wait at another place."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.find import find_job
from echomq_worker.cli.options import json_option, queue_option, with_session
from echomq_worker.cli.output import say, write_json
from echomq_worker.cli.session import Session
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.lanes import Reassigned, check_lane_name
from echomq_worker.domain.priority import checked_priority
from echomq_worker.domain.views import JobView, Reprioritized
from echomq_worker.store import QueueStore, Server

T = TypeVar("T")

_COMPLETED = "it has completed"
_NO_PRIORITY = {
    Reprioritized.GONE: "it is gone",
    Reprioritized.LANE: "it belongs to a lane; inside one, jobs run in the order of their making",
}
_NO_MOVE = {
    Reassigned.NOT_FOUND: "it is gone",
    Reassigned.NOT_PENDING: "it does not wait to be claimed: it runs, is due later, or has died",
}


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("job_id", metavar="ID")
@click.argument("number", metavar="N", type=int)
@queue_option(default=None, doc="Where it is; else every queue is looked into.")
@json_option
@with_session
def priority(
    session: Session, *, job_id: str, number: int, queue: str | None, as_json: bool
) -> None:
    """Give the job ID the priority N, -1048576 to 1048576: lower runs first.

    A job that waits moves at once; any other has it when it waits the next time. 0 takes it away.
    """
    wanted, rank = JobId(parse_id(job_id).text), checked_priority(number)

    async def change(store: QueueStore) -> Reprioritized:
        (done,) = await store.reprioritize([wanted], rank)
        return done

    where, done = _changed(session, wanted, queue, change)
    if as_json:
        outcome = Reprioritized.GONE if done is None else done
        write_json({"id": wanted, "queue": where, "outcome": outcome.value, "priority": rank})
    if done is None or done in _NO_PRIORITY:
        reason = _COMPLETED if done is None else _NO_PRIORITY[done]
        msg = f"job {wanted} in queue {where} got no other priority: {reason}"
        raise CommandError(msg, ExitCode.REFUSED)
    if not as_json:
        later = " as soon as it waits" if done is Reprioritized.NOT_WAITING else ""
        say(f"job {wanted} in queue {where} has priority {rank}{later}")


@click.command()
@click.argument("job_id", metavar="ID")
@click.option("--lane", required=True, metavar="NAME", help="The lane where it is to wait.")
@queue_option(default=None, doc="Where it is; else every queue is looked into.")
@json_option
@with_session
def move(session: Session, *, job_id: str, lane: str, queue: str | None, as_json: bool) -> None:
    """Let the waiting job ID wait in a lane. It has no priority then."""
    wanted, name = JobId(parse_id(job_id).text), check_lane_name(lane)

    async def change(store: QueueStore) -> Reassigned:
        return await store.lanes.reassign(wanted, name, flat=True)

    where, done = _changed(session, wanted, queue, change)
    if as_json:
        outcome = Reassigned.NOT_FOUND if done is None else done
        write_json({"id": wanted, "queue": where, "outcome": outcome.value, "lane": name})
    if done is None or done in _NO_MOVE:
        reason = _COMPLETED if done is None else _NO_MOVE[done]
        msg = f"job {wanted} in queue {where} was not moved: {reason}"
        raise CommandError(msg, ExitCode.REFUSED)
    if not as_json:
        already = " already" if done is Reassigned.NOOP else ""
        say(f"job {wanted} in queue {where} waits in lane {name}{already}")


def _changed(
    session: Session,
    job_id: JobId,
    queue: str | None,
    change: Callable[[QueueStore], Awaitable[T]],
) -> tuple[str, T | None]:
    """Change a job; return its queue, and what came of it: None if it has completed."""

    async def find_and_change(server: Server) -> tuple[str, T | None]:
        found = await find_job(server, job_id, queue, session.settings.queues)
        if not isinstance(found, JobView):
            return found[0], None
        return found.queue, await change(server.queue(found.queue))

    return ask(session, find_and_change)
