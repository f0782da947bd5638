"""The lines about schedulers that a worker logs. Their wording is nobody else's business."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from echomq_worker.domain.failures import shorten
from echomq_worker.domain.scheduling.records import PutVerdict
from echomq_worker.domain.scheduling.spec import SchedulerSpec

MOST_LINES = 20
"""More occurrences than this, fired at once, make one line."""
MOST_TOLD = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_STANDING = {
    PutVerdict.OLDER: "a newer version of the code has declared it: nothing was changed. If this "
    "is the newer one, give it a higher ECHOMQ_REVISION",
    PutVerdict.SUPERSEDED: "another declaration has replaced this one before: nothing was changed. "
    "To go back to it, raise ECHOMQ_REVISION, or use app.schedulers.put",
}


class ScheduleLines:
    """Writes what was fired, what was declared, and what is wrong with schedulers."""

    def __init__(self) -> None:
        self._log: Any = structlog.get_logger("echomq.worker").bind()
        self._told: set[tuple[str, str]] = set()

    def fired(self, queue: str, occurrences: Sequence[tuple[str, int, int]]) -> None:
        """Say which occurrences made jobs.

        Args:
            queue: the queue.
            occurrences: name, instant (Unix ms) and lateness (ms) of each.
        """
        if len(occurrences) > MOST_LINES:
            self._log.info(
                "schedules.fired",
                queue=queue,
                count=len(occurrences),
                schedulers=[name for name, _, _ in occurrences[:MOST_LINES]],
                latest=max(late_ms for _, _, late_ms in occurrences) / 1_000,
            )
            return
        for name, instant_ms, late_ms in occurrences:
            self._log.info(
                "schedule.fired",
                queue=queue,
                scheduler=name,
                instant=moment(instant_ms),
                late=late_ms / 1_000,
            )

    def repeats_fired(self, queue: str, names: Sequence[str]) -> None:
        """Say which registrations of the base wire made jobs."""
        if names:
            shown = [_printable(name) for name in names[:MOST_LINES]]
            self._log.info("repeats.fired", queue=queue, count=len(names), registrations=shown)

    def repeat_set_aside(self, queue: str, name: str, reason: str) -> None:
        """Say that a registration of the base wire cannot be used."""
        self._log.error(
            "repeat.set_aside",
            queue=queue,
            registration=_printable(name),
            reason=reason,
            hint="it is kept for a week; let the peer that has made it register it again",
        )

    def set_aside(self, queue: str, name: str, reason: str) -> None:
        """Say that a scheduler is corrupt and was moved out of the way."""
        self._log.error(
            "schedule.set_aside",
            queue=queue,
            scheduler=_printable(name),
            reason=shorten(reason),
            hint="it no longer fires, and is kept for a week; what the code declares is declared "
            "anew, and app.schedulers.put does it for others",
        )

    def unreadable(self, queue: str, name: str, reason: str) -> None:
        """Say, once, that a scheduler can be fired by others only."""
        if self._is_news(queue, f"unreadable {name}"):
            self._log.error(
                "schedule.unreadable",
                queue=queue,
                scheduler=_printable(name),
                reason=shorten(reason),
                hint="it is left to workers that can read it: let all have the same version, and "
                "the same time zone data",
            )

    def declared(self, queue: str, spec: SchedulerSpec, verdict: PutVerdict) -> None:
        """Say what became of a scheduler that the code declares."""
        facts = {"queue": queue, "scheduler": spec.name}
        if verdict in _STANDING:
            self._log.warning(
                "schedule.not_declared",
                **facts,
                revision=spec.revision,
                reason=verdict.value,
                hint=_STANDING[verdict],
            )
        elif verdict is not PutVerdict.UNCHANGED:
            self._log.info(f"schedule.{verdict.value}", **facts, rule=spec.rule.describe())

    def refused(self, queue: str, spec: SchedulerSpec, error: Exception) -> None:
        """Say that the server refuses a scheduler that the code declares."""
        self._log.error(
            "schedule.refused",
            queue=queue,
            scheduler=spec.name,
            error_message=shorten(str(error)),
            hint="the others were declared; this one is tried again in an hour, and at each start",
        )

    def limit_refused(self, queue: str, scope: str, error: Exception) -> None:
        """Say that the server refuses a limit that the code declares."""
        self._log.error(
            "limit.refused", queue=queue, scope=scope, error_message=shorten(str(error))
        )

    def clock_change(self, queue: str, spec: SchedulerSpec, text: str) -> None:
        """Say what a rule does on the day of the next clock change."""
        self._log.warning(
            "schedule.clock_change", queue=queue, scheduler=spec.name, rule=spec.rule.describe(),
            effect=text,
        )  # fmt: skip

    def recomputed(self, queue: str, count: int, version: str) -> None:
        """Say that next instants were computed anew with newer time zone data."""
        if count:
            self._log.info("schedules.recomputed", queue=queue, count=count, tz_data=version)

    def zone_data_differ(self, queue: str, versions: Mapping[str, int], own: str) -> None:
        """Say, once, that workers of a queue compute with different time zone data."""
        if self._is_news(queue, "tz data"):
            self._log.warning(
                "tz_data.differ",
                queue=queue,
                workers={version or "none": count for version, count in sorted(versions.items())},
                own=own or "none",
                hint="instants after a change of a zone's rules may differ by hours until the "
                "newest data are everywhere: upgrade the tzdata package",
            )

    def _is_news(self, queue: str, what: str) -> bool:
        if (queue, what) in self._told:
            return False
        if len(self._told) >= MOST_TOLD:
            self._told.clear()
        self._told.add((queue, what))
        return True


def moment(unix_ms: int) -> str:
    """Write an instant as logs show it."""
    return (_EPOCH + timedelta(milliseconds=unix_ms)).isoformat(timespec="milliseconds")


def _printable(name: str) -> str:
    return shorten(name, 200)
