"""`echomq job reschedule` and `echomq job promote`: let a waiting job run earlier or later."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.find import find_job
from echomq_worker.cli.instants import instant
from echomq_worker.cli.options import json_option, queue_option, with_session
from echomq_worker.cli.output import say, write_json
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import moment, rfc3339
from echomq_worker.client.due import check_due, due_by
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import Due, JobId, State
from echomq_worker.domain.views import JobView, Moved
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.store import QueueStore, Server

_PLACE = {
    State.PENDING: "it waits for a worker already",
    State.ACTIVE: "it is running",
    State.DEAD: "it has died; `echomq dead requeue` brings it back",
    State.AWAITING_CHILDREN: "it waits for its children",
}
_NO_TIME = "so there is no time to change: only a job that waits for its time can be moved"

Move = Callable[[QueueStore], Awaitable[Moved]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What has become of a job that was to be moved."""

    job_id: JobId
    queue: str
    moved: Moved
    place: str
    """Where it is, for people."""
    due_ms: int | None = None
    """When it is due now, in Unix ms; None if it waits for no time."""


@click.command()
@click.argument("job_id", metavar="ID")
@click.option("--in", "delay", metavar="10m", help="Run it so long from now.")
@click.option("--at", "at", metavar="ISO", help="Run it at, say, 2030-01-31T09:00:00+01:00.")
@queue_option(default=None, doc="Where it is; else every queue is looked into.")
@json_option
@with_session
def reschedule(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    job_id: str,
    delay: str | None,
    at: str | None,
    queue: str | None,
    as_json: bool,
) -> None:
    """Let the job ID, which waits for its time or its next attempt, run at another time.

    A time that is past means at once.
    """
    due = _due(delay, at)
    wanted = JobId(parse_id(job_id).text)

    async def move(store: QueueStore) -> Moved:
        (moved,) = await store.reschedule([wanted], due)
        return moved

    answer = ask(session, lambda server: _moved(session, server, wanted, queue, move))
    _tell(answer, f"is due {_when(answer.due_ms)}", as_json=as_json)


@click.command()
@click.argument("job_id", metavar="ID")
@queue_option(default=None, doc="Where it is; else every queue is looked into.")
@json_option
@with_session
def promote(session: Session, *, job_id: str, queue: str | None, as_json: bool) -> None:
    """Let the job ID, which waits for its time or its next attempt, run now."""
    wanted = JobId(parse_id(job_id).text)

    async def move(store: QueueStore) -> Moved:
        (moved,) = await store.promote_now([wanted])
        return moved

    answer = ask(session, lambda server: _moved(session, server, wanted, queue, move))
    _tell(answer, "may run now", as_json=as_json)


def _due(delay: str | None, at: str | None) -> Due:
    if delay is not None and at is None:
        return due_by(delay)
    if at is not None and delay is None:
        due = due_by(instant("--at", at))
        check_due(due, time.time_ns() // 1_000_000)
        return due
    msg = "expected one of --in (such as 10m) and --at (such as 2030-01-31T09:00:00Z)"
    raise InvalidArgumentError(msg)


async def _moved(
    session: Session, server: Server, job_id: JobId, queue: str | None, move: Move
) -> Answer:
    """Move a job, and see what has become of it. Raises `CommandError` if there is none."""
    found = await find_job(server, job_id, queue, session.settings.queues)
    if not isinstance(found, JobView):
        return Answer(job_id, found[0], Moved.GONE, place="it has completed")
    store = server.queue(found.queue)
    moved = await move(store)
    view = await store.inspect(job_id)
    if view is None:
        return Answer(job_id, found.queue, moved, place="it is gone")
    return Answer(job_id, found.queue, moved, place=_place_of(view), due_ms=view.due_ms)


def _tell(answer: Answer, done: str, *, as_json: bool) -> None:
    where = f"job {answer.job_id} in queue {answer.queue}"
    if as_json:
        record = {"id": answer.job_id, "queue": answer.queue, "outcome": answer.moved.value}
        write_json(record | {"due_at": rfc3339(answer.due_ms)})
    elif answer.moved is Moved.OK:
        say(f"{where} {done}")
    if answer.moved is not Moved.OK:
        text = f"{where} was not moved: {answer.place}, {_NO_TIME}"
        raise CommandError(text, ExitCode.REFUSED)


def _place_of(view: JobView) -> str:
    return _PLACE.get(view.state, f"it is {view.state.value}")


def _when(due_ms: int | None) -> str:
    now_ms = time.time_ns() // 1_000_000
    if due_ms is None or due_ms <= now_ms:
        return "now"
    return f"{moment(due_ms, now_ms)}, at {rfc3339(due_ms)}"
