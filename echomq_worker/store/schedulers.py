"""The schedulers of one queue: declared, looked at, fired, paused, triggered, removed."""

from collections.abc import Mapping, Sequence

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import Admission, JobId
from echomq_worker.domain.limits import PAUSE_REASON, PAUSED_BY
from echomq_worker.domain.scheduling.plan import first_next
from echomq_worker.domain.scheduling.records import (
    FIRED_AT_ONCE,
    Due,
    Fired,
    Firing,
    PutVerdict,
    SchedulerState,
    SchedulerView,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.errors import CorruptSchedulerError, ServerError, UnknownZoneError
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.scheduler_replies import (
    DUE_FIELDS,
    firing_operands,
    firing_parts,
    ms_operand,
    read_due,
    read_fired,
    read_view,
    scheduler_bytes,
    timing_operands,
)
from echomq_worker.protocol.scheduler_rows import DEFINITION, digests, spec_fields
from echomq_worker.protocol.scripts import Operand
from echomq_worker.store.calls import Caller
from echomq_worker.store.scheduler_calls import SchedulerCalls, Verify
from echomq_worker.store.wire import Reply, Wire
from echomq_worker.zones import zone_data_version

PAGE = 100
"""So many schedulers are read by one call: each comes with its payload."""
TRIES = 10
"""So often somebody else may fire or change a scheduler while we declare or resume it."""
_AGAIN = b"again"
_NO_SUCH, _RESUMED, _NOT_PAUSED = 0, 1, 2
_TRIGGERED = {0: Admission.DUPLICATE, 1: Admission.ENQUEUED, 2: None}


class SchedulerStore:
    """The schedulers of one queue. Reached as `QueueStore.schedulers`.

    Every method raises `ServerError` (or one of its kinds) if the server refuses or is silent. All
    may be repeated; a call that comes to the server late, after its repetition, changes nothing.
    Names are those of `check_scheduler_name`; what else lies there can be read and removed as well.
    """

    def __init__(
        self,
        keys: Keyspace,
        wire: Wire,
        verify: Verify,
        *,
        log_size: int = 0,
        caller: Caller | None = None,
    ) -> None:
        self._queue = keys.queue
        self._log_size = log_size
        self._calls = SchedulerCalls(keys, wire, verify, caller or Caller())

    async def put(self, spec: SchedulerSpec, *, force: bool, source: str, tz: str) -> PutVerdict:
        """Create a scheduler, or replace its declaration.

        A new rule gives it a new next occurrence, later than all that it has fired; else that stays
        as it is. One that is paused stays so.

        Args:
            spec: the declaration.
            force: replace what has the same revision also if that has replaced this one before.
            source: who declares it: `code` or `api`.
            tz: the version of the time zone data that is used here.

        Raises:
            OutOfMemoryError: the server is full; nothing was changed.
            WrongTypeError: something else lies in its place.
        """
        digest, rule_digest = digests(spec)
        fields = spec_fields(spec)
        rest = [word for name in DEFINITION for word in (name, fields.get(name, ""))]
        for _ in range(TRIES):
            now_ms, view = await self._look(spec.name)
            last_ms = None if view is None else view.last_ms
            instant_ms = first_next(spec, now_ms=now_ms, last_ms=last_ms)
            args: dict[str, Operand] = {
                "name": spec.name,
                "digest": digest,
                "rule_digest": rule_digest,
                "revision": spec.revision,
                "force": int(force),
                "source": source,
                **timing_operands(spec, instant_ms, tz),
            }
            reply = await self._calls.numbered("put_scheduler", args, rest, claim=True)
            if reply != _AGAIN:
                return PutVerdict(reply.decode())
        raise self._too_busy(spec.name)

    async def get(self, name: str) -> SchedulerView | None:
        """Return one scheduler; None if there is none."""
        return (await self._look(name))[1]

    async def list(self, limit: int = 1_000, offset: int = 0) -> Sequence[SchedulerView]:
        """Return schedulers, those that fire first at the front and those that rest last."""
        views: list[SchedulerView] = []
        for first in range(0, limit, PAGE):
            page = min(PAGE, limit - first)
            args: dict[str, Operand] = {"offset": offset + first, "limit": page}
            found = (await self._calls.ask("read_schedulers", args))[2]
            views += (view for view in map(read_view, found) if view is not None)
            if len(found) < page:
                break
        return views

    async def count(self) -> int:
        """Return how many schedulers there are."""
        return (await self._calls.ask("read_schedulers", {"offset": 0, "limit": 0}))[1]

    async def now_ms(self) -> int:
        """Return the server's time."""
        return (await self._calls.ask("read_schedulers", {"offset": 0, "limit": 0}))[0]

    async def due(self, limit: int = FIRED_AT_ONCE, *, offset: int = 0) -> Due:
        """Return schedulers whose time has come, at most 500, the longest due first.

        `offset` is how many of the longest due to pass over: those that have to stay.
        """
        args: dict[str, Operand] = {"limit": min(limit, FIRED_AT_ONCE), "offset": offset}
        return read_due(await self._calls.ask("due_schedulers", args, DUE_FIELDS))

    async def fire(self, firings: Sequence[Firing]) -> Sequence[Fired]:
        """Make the jobs of occurrences, each at most once, whoever else tries to.

        Sent in calls of at most 250 schedulers and 500 occurrences.

        Returns:
            What became of each firing, in order.

        Raises:
            OutOfMemoryError: the server is full; of what was sent with this call nothing was done.
        """
        fired: list[Fired] = []
        for part in firing_parts(firings):
            words = await self._calls.ask(
                "fire", {"log_size": self._log_size}, firing_operands(part)
            )
            fired += read_fired(part, words)
        return fired

    async def pause(self, name: str, *, reason: str = "", by: str = "") -> bool:
        """Let a scheduler rest; False if there is none. The newest reason stands."""
        args = {"reason": _told(reason, PAUSE_REASON), "by": _told(by, PAUSED_BY)}
        return await self._named("pause_scheduler", name, args) == 1

    async def resume(self, name: str) -> bool:
        """Let a paused scheduler fire again; False if there is none.

        Its next occurrence is the first from now on: what fell into the pause is not made up for.

        Raises:
            CorruptSchedulerError: if it cannot be read.
            UnknownZoneError: if its time zone is not known here.
        """
        for _ in range(TRIES):
            now_ms, view = await self._look(name)
            if view is None:
                return False
            spec = _readable(view)
            if view.paused is None:
                return True
            instant_ms = None
            if not view.ended:
                instant_ms = first_next(spec, now_ms=now_ms, last_ms=view.last_ms)
            timing = timing_operands(spec, instant_ms, zone_data_version())
            args: dict[str, Operand] = {"digest": view.digest, **timing}
            verdict = await self._named("resume_scheduler", name, args)
            if verdict in {_NO_SUCH, _RESUMED, _NOT_PAUSED}:
                return verdict != _NO_SUCH
        raise self._too_busy(name)

    async def remove(self, name: str) -> bool:
        """Remove a scheduler for good, not its jobs; False if there is none."""
        return await self._named("remove_scheduler", name, {}) == 1

    async def trigger(self, name: str, job_id: JobId) -> Admission | None:
        """Make a job of a scheduler now, whatever its rule, pause and overlap policy say.

        Returns:
            None if there is no such scheduler; a duplicate if another job has the id.

        Raises:
            OutOfMemoryError: the server is full; nothing was changed.
        """
        parse_id(job_id)
        args: dict[str, Operand] = {"id": job_id, "log_size": self._log_size}
        return _TRIGGERED[await self._named("trigger_scheduler", name, args, claim=True)]

    async def retime(  # noqa: PLR0913 - what was read, and what it becomes
        self,
        name: str,
        *,
        expected_ms: int | None,
        digest: str,
        next_ms: int | None,
        wake_ms: int | None,
        tz: str,
        expected_tz: str | None = None,
    ) -> bool:
        """Move the next occurrence, as newer time zone data says.

        Args:
            name: of the scheduler.
            expected_ms: the next occurrence that was read.
            digest: the digest that was read.
            next_ms: the new one; None for none any more.
            wake_ms: when that fires.
            tz: the version of the data that it was computed with.
            expected_tz: the version that was read; None for any.

        Returns:
            False if it has changed since it was read, or if the new one is not later than what was
            fired: then nothing was changed.
        """
        args: dict[str, Operand] = {
            "name": scheduler_bytes(name),
            "digest": digest,
            "expected": ms_operand(expected_ms),
            "expected_tz": "*" if expected_tz is None else expected_tz,
            "instant": ms_operand(next_ms),
            "wake": ms_operand(wake_ms),
            "tz": tz,
        }
        return await self._calls.ask("retime_scheduler", args) == 1

    async def set_aside(self, name: str, reason: str) -> bool:
        """Take a scheduler that cannot be read out of the way of the others.

        What stands in its place is kept for a week under a key of its own, and quarantine tells of
        it.

        Returns:
            False if it can be read (by now), or is gone: then nothing was changed.
        """
        found = (await self._read(name))[1]
        view = read_view(found)
        if view is None or view.state is not SchedulerState.CORRUPT:
            return False
        flat = found[3]
        fields = {flat[i]: flat[i + 1] for i in range(0, len(flat), 2)}
        args: dict[str, Operand] = {
            "name": scheduler_bytes(name),
            "reason": _told(reason, PAUSE_REASON),
            "kind": found[2],
            "digest": fields.get(b"digest", b""),
            "changed": fields.get(b"changed", b""),
        }
        return await self._calls.ask("aside_scheduler", args) == 1

    async def _look(self, name: str) -> tuple[int, SchedulerView | None]:
        now_ms, found = await self._read(name)
        return now_ms, read_view(found)

    async def _read(self, name: str) -> tuple[int, Reply]:
        args: dict[str, Operand] = {"offset": 0, "limit": 1}
        reply = await self._calls.ask("read_schedulers", args, [scheduler_bytes(name)])
        return reply[0], reply[2][0]

    async def _named(
        self, name: str, scheduler: str, args: Mapping[str, Operand], *, claim: bool = False
    ) -> int:
        named = {"name": scheduler_bytes(scheduler), **args}
        return await self._calls.numbered(name, named, claim=claim)

    def _too_busy(self, name: str) -> ServerError:
        return ServerError(
            f"scheduler {name} of queue {self._queue} was fired or changed by others each "
            f"time when it was to be written ({TRIES} times). Nothing was changed: ask again"
        )


def _told(text: str, most: int) -> bytes:
    # It may tell of what UTF-8 cannot carry.
    return text[:most].encode("utf-8", "backslashreplace")


def _readable(view: SchedulerView) -> SchedulerSpec:
    if view.spec is not None:
        return view.spec
    if view.state is SchedulerState.CORRUPT:
        raise CorruptSchedulerError(view.problem)
    raise UnknownZoneError(view.problem)
