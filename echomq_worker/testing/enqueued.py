"""Jobs that were enqueued, as a test looks at them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from echomq_worker.client import JobSender
from echomq_worker.domain.duration import format_duration
from echomq_worker.domain.job import After, At, JobId, State
from echomq_worker.errors import ArgumentsError
from echomq_worker.handlers import Registry
from echomq_worker.handlers.arguments import encode_json
from echomq_worker.testing.backend import Admitted
from echomq_worker.testing.rows import Row

Wanted = JobSender[..., Any] | str
"""A job as `@app.job` made it, or the name of its handler."""

_LONGEST_VALUE = 120
_MOST_LISTED = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class EnqueuedJob:
    """A job that was enqueued while the kit was there."""

    id: JobId
    queue: str
    name: str | None
    """The handler's name; None for a raw job."""
    arguments: Mapping[str, Any]
    """As its handler will receive them, defaults included; as JSON has them if the application has
    no such handler; empty for a raw job."""
    payload: bytes = field(repr=False)
    delay_ms: int
    """How long it had to wait when it was enqueued, in ms; 0 for at once."""
    state: State
    """Where it is now; `State.ABSENT` once it has completed or was removed."""
    max_attempts: int | None = None
    """How often it may be tried, if its producer has said so."""
    last_error: str | None = None
    """What its last failed attempt said, such as `ValueError: no such user`."""

    def __str__(self) -> str:
        what = self.name or "raw job"
        given = ", ".join(f"{name}={_short(value)}" for name, value in self.arguments.items())
        said = f"{what}({given})" if self.name else f"{what} {_short(self.payload)}"
        late = f", to run after {format_duration(self.delay_ms)}" if self.delay_ms else ""
        now = "done or removed" if self.state is State.ABSENT else self.state.value
        return f"{said} in queue {self.queue}{late}: {now}"


def enqueued_job(admitted: Admitted, row: Row | None, registry: Registry) -> EnqueuedJob:
    """Make the view of a job that a queue has taken in; `row` is None once it has left."""
    job = admitted.job
    match job.due:
        case None:
            delay_ms = 0
        case After(after_ms):
            delay_ms = after_ms
        case At(unix_ms):
            delay_ms = max(0, unix_ms - admitted.at_ms)
    return EnqueuedJob(
        id=job.id,
        queue=admitted.queue,
        name=job.name,
        arguments=_arguments(job.name, job.payload, registry),
        payload=job.payload,
        delay_ms=delay_ms,
        state=row.state if row else State.ABSENT,
        max_attempts=job.max_attempts,
        last_error=row.last_error if row else None,
    )


def matches(job: EnqueuedJob, name: str, arguments: Mapping[str, object]) -> bool:
    """Return whether a job is a call of a handler with, among others, these arguments."""
    return job.name == name and all(
        argument in job.arguments and _same(job.arguments[argument], value)
        for argument, value in arguments.items()
    )


def check_names(registry: Registry, name: str, arguments: Iterable[str]) -> None:
    """Raise `TypeError` if a handler that is known here takes no argument of one of the names."""
    if name not in registry.names():
        return
    handler = registry.named(name)
    filled_in = {*handler.context_names, *handler.state_names}
    taken = [key for key in signature(handler.function).parameters if key not in filled_in]
    for argument in arguments:
        if argument not in taken:
            msg = f'{name} takes no argument "{argument}"; it takes: {", ".join(taken) or "none"}'
            raise TypeError(msg)


def name_of(wanted: Wanted) -> str:
    """Return what jobs call the handler by."""
    return wanted if isinstance(wanted, str) else wanted.name


def call_text(name: str, arguments: Mapping[str, object]) -> str:
    """Write a call as a test would."""
    return f"{name}({', '.join(f'{key}={_short(value)}' for key, value in arguments.items())})"


def listing(jobs: Sequence[EnqueuedJob]) -> str:
    """Say what was enqueued, a line each."""
    if not jobs:
        return "Nothing was enqueued."
    lines = [f"  {job}" for job in jobs[:_MOST_LISTED]]
    if len(jobs) > _MOST_LISTED:
        lines.append(f"  and {len(jobs) - _MOST_LISTED} more")
    return "\n".join(["Enqueued:", *lines])


def _arguments(name: str | None, payload: bytes, registry: Registry) -> Mapping[str, Any]:
    if name is None:
        return {}
    if name in registry.names():
        try:
            return registry.named(name).arguments.decode(payload)
        except ArgumentsError:
            pass  # it shows what is there: the worker will say what is wrong with it
    found: object = json.loads(payload)
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _same(value: object, wanted: object) -> bool:
    if value == wanted:
        return True
    try:
        return json.loads(encode_json(value)) == json.loads(encode_json(wanted))
    except (TypeError, ValueError):
        return False


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
