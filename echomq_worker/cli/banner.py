"""What a worker says when it starts: to people in a few lines, to machines as one log line."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from echomq_worker.app import EchoMQ
from echomq_worker.cli.output import say
from echomq_worker.cli.words import installed
from echomq_worker.config import Settings
from echomq_worker.domain.duration import format_duration
from echomq_worker.domain.scheduling.declared import DeclaredScheduler
from echomq_worker.domain.views import ServerInfo
from echomq_worker.handlers import Handler
from echomq_worker.version import __version__
from echomq_worker.zones import zone_data_version

MOST_SCHEDULES = 10
"""So many schedulers are shown, a line each."""


@dataclass(frozen=True, slots=True)
class Herald:
    """Tells what happens at the start.

    Args:
        people: True writes sentences to standard error; False writes log lines.
    """

    people: bool

    def warn(self, event: str, sentence: str, **facts: object) -> None:
        """Tell of something that is not as it should be."""
        self._tell("warning", event, f"warning: {sentence}", facts)

    def tell(self, event: str, sentence: str, **facts: object) -> None:
        """Tell of something."""
        self._tell("info", event, sentence, facts)

    def _tell(self, level: str, event: str, sentence: str, facts: dict[str, object]) -> None:
        if self.people:
            for line in sentence.splitlines():
                say(line)
            return
        log: Any = structlog.get_logger("echomq.worker")
        log.log({"info": 20, "warning": 30}[level], event, **facts)


def introduce(herald: Herald, settings: Settings, app: EchoMQ, info: ServerInfo) -> None:
    """Say who is starting, where, and what it will run."""
    named = [label(handler) for handler in app.registry.handlers()]
    herald.tell(
        "worker.introduced",
        "\n".join(banner(settings, named, info, app.scheduled)),
        version=__version__,
        python=platform.python_version(),
        wire=settings.wire_version,
        tz_data=zone_data_version(),
        server=f"{info.name} {info.version}",
        at=info.location,
        memory_policy=info.memory_policy,
        clock_offset_ms=info.clock_offset_ms,
        handlers=named,
        schedulers=[one.spec.name for one in app.scheduled],
    )
    for queue, names in unserved(settings, app).items():
        herald.warn(
            "queue.not_served",
            f"jobs of {', '.join(names)} go to queue {queue}, which this worker does not serve "
            f"(ECHOMQ_QUEUES)",
            queue=queue,
            handlers=names,
            hint="add it to ECHOMQ_QUEUES, unless other workers serve it",
        )


def banner(
    settings: Settings,
    handlers: Sequence[str],
    info: ServerInfo,
    scheduled: Sequence[DeclaredScheduler] = (),
) -> Iterator[str]:
    """Return what people get to read, line by line."""
    yield (
        f"echomq {__version__}  python {platform.python_version()}  redis-py {installed('redis')}  "
        f"wire {settings.wire_version}  tz data {zone_data_version() or 'none'}"
    )
    yield (
        f"server    {info.name} {info.version} at {info.location}  "
        f"policy {info.memory_policy or 'unknown'}  clock {info.clock_offset_ms:+d} ms"
    )
    yield from what_runs(settings, handlers, scheduled)


def what_runs(
    settings: Settings, handlers: Sequence[str], scheduled: Sequence[DeclaredScheduler] = ()
) -> Iterator[str]:
    """Return the lines about handlers, schedulers and queues."""
    yield f"handlers  {'  '.join(handlers) or 'none'}  ({len(handlers)})"
    for place, one in enumerate(scheduled[:MOST_SCHEDULES]):
        head = " " * len("schedules") if place else "schedules"
        yield f"{head} {one.spec.name}  {one.spec.rule.describe()}"
    if len(scheduled) > MOST_SCHEDULES:
        yield f"{' ' * len('schedules')} ... {len(scheduled) - MOST_SCHEDULES} more"
    queues = "  ".join(map(str, settings.queues))
    yield f"queues    {queues}  {settings.concurrency} at once"


def ready(settings: Settings, seconds: float) -> str:
    """Return the last line of the start."""
    budget = format_duration(settings.shutdown_timeout_ms)
    return f"ready in {seconds:.2f}s. Ctrl-C drains (up to {budget}), twice cancels."


def label(handler: Handler) -> str:
    """Return what people call a handler."""
    return handler.name or f"{handler.queue} (raw)"


def unserved(settings: Settings, app: EchoMQ) -> dict[str, list[str]]:
    """Return the queues that this worker does not serve, and whose jobs go there."""
    served = {queue.name for queue in settings.queues}
    found: dict[str, list[str]] = {}
    for handler in app.registry.handlers():
        if handler.queue not in served:
            found.setdefault(handler.queue, []).append(label(handler))
    for one in app.scheduled:
        if one.queue not in served:
            found.setdefault(one.queue, []).append(f"scheduler {one.spec.name}")
    return found
