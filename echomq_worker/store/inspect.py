"""Reads: counts, single jobs, the dead, kept results. Nothing here changes anything."""

from collections.abc import Sequence

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId, State
from echomq_worker.domain.views import Counts, JobView, KeptResult, LogEntry, Order, PauseNote
from echomq_worker.errors import InvalidIdError
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.rows import read_ms, read_number, read_signed, read_text
from echomq_worker.protocol.scripts import Operand, script
from echomq_worker.store.translate import translated_errors
from echomq_worker.store.wire import Reply, Wire, ask_again, run_script


class Inspector:
    """Answers questions about one queue."""

    def __init__(self, queue: str, keys: Keyspace, wire: Wire) -> None:
        self._queue = queue
        self._keys = keys
        self._wire = wire

    async def counts(self) -> Counts:
        """Count the jobs in each place."""
        found = script("counts")
        bound = found.bind({key: getattr(self._keys, key) for key in found.keys})
        reply = await ask_again(lambda: run_script(self._wire, bound, {}))
        pending, active, scheduled, dead, completed, failed, *others = reply
        paused, workers, set_aside, prioritized, lanes, kept_back = others
        return Counts(
            pending,
            active,
            scheduled,
            dead,
            completed,
            failed,
            paused=paused == 1,
            workers=workers,
            set_aside=set_aside,
            prioritized=prioritized,
            lanes=lanes,
            kept_back=kept_back,
        )

    async def job(self, job_id: JobId) -> JobView | None:
        """Return everything about one job; None if there is none."""
        self._keys.job(job_id)
        found = script("inspect")
        bound = found.bind({key: getattr(self._keys, key) for key in found.keys})
        reply = await ask_again(lambda: run_script(self._wire, bound, {"id": job_id}))
        return self._view(job_id, reply)

    async def dead(self, limit: int, offset: int) -> list[JobView]:
        """Return dead jobs, the newest minted first."""
        ids = await self.dead_ids(limit, offset)
        views = [await self.job(job_id) for job_id in ids if _is_id(job_id)]
        return [view for view in views if view is not None]

    async def dead_ids(self, limit: int, offset: int) -> list[JobId]:
        """Return the ids of dead jobs, the newest minted first."""
        return await self._range(self._keys.dead, "+", "-", "BYLEX", "REV", "LIMIT", offset, limit)

    async def dead_among(self, ids: Sequence[JobId]) -> list[JobId]:
        """Return those of `ids` that are dead (at most 1,000 are asked about)."""
        if not ids:
            return []
        scores = await self._ask("ZMSCORE", self._keys.dead, *ids)
        return [job_id for job_id, score in zip(ids, scores, strict=True) if score is not None]

    async def pause_note(self) -> PauseNote | None:
        """Return since when the queue is paused, and why; None if it is not."""
        fields = ("paused", "paused_at", "paused_reason", "paused_by")
        paused, since, reason, by = await self._ask("HMGET", self._keys.meta, *fields)
        return (
            None
            if paused is None
            else PauseNote(read_ms(since or b""), read_text(reason), read_text(by))
        )

    async def order(self) -> Order:
        """Return what decides among jobs of one priority."""
        order = await self._ask("HGET", self._keys.meta, "order")
        return Order.MINT if order == Order.MINT.value.encode() else Order.ARRIVAL

    async def pending_ids(self, limit: int, *, newest_first: bool) -> list[JobId]:
        """Return ids that wait in `pending`, in mint order or reversed."""
        order: tuple[Operand, ...] = (
            ("+", "-", "BYLEX", "REV") if newest_first else ("-", "+", "BYLEX")
        )
        return await self._range(self._keys.pending, *order, "LIMIT", 0, limit)

    async def result(self, job_id: JobId) -> KeptResult | None:
        """Return the kept result of a completed job; None if none is kept."""
        fields = await self._ask("HMGET", self._keys.done(job_id), "outcome", "result", "finished")
        if fields[0] is None:
            return None
        return KeptResult(fields[0].decode(), fields[1] or b"", int(fields[2] or 0))

    async def log(self, after: str, limit: int) -> list[LogEntry]:
        """Return lifecycle events that came after the entry `after`, in order."""
        reply = await self._ask("XRANGE", self._keys.log, f"({after}", "+", "COUNT", limit)
        return [_log_entry(position, flat) for position, flat in reply]

    async def _range(self, key: str, *order: Operand) -> list[JobId]:
        members: Sequence[bytes] = await self._ask("ZRANGE", key, *order)
        return [JobId(member.decode("utf-8", "replace")) for member in members]

    async def _ask(self, *command: Operand) -> Reply:
        async def once() -> Reply:
            with translated_errors(about=str(command[1])):
                return await self._wire.command(*command)

        return await ask_again(once)

    def _view(self, job_id: JobId, reply: Sequence[Reply]) -> JobView | None:
        state_text, lease, due, died, flat = reply
        state = State(state_text.decode())
        if state is State.ABSENT:
            return None
        fields = {flat[i].decode("utf-8", "replace"): flat[i + 1] for i in range(0, len(flat), 2)}
        return JobView(
            queue=self._queue,
            id=job_id,
            state=state,
            payload=fields.get("payload", b""),
            name=read_text(fields.get("name")),
            token=read_number(fields.get("attempts")) or 0,
            returned=read_number(fields.get("returned")) or 0,
            max_attempts=read_number(fields.get("max")),
            last_error=read_text(fields.get("last_error")),
            failures=fields.get("failures"),
            due_ms=read_ms(due),
            lease_ms=read_ms(lease),
            died_ms=read_ms(died),
            group=read_text(fields.get("group")),
            lane=read_text(fields.get("lane")),
            priority=read_signed(fields.get("priority")),
            gate=read_text(fields.get("held")),
            expires_ms=read_number(fields.get("expires")),
            scheduler=read_text(fields.get("scheduler")),
            instant_ms=read_number(fields.get("instant")),
            fields=fields,
        )


def _is_id(text: str) -> bool:
    try:
        parse_id(text)
    except InvalidIdError:
        return False
    return True


def _log_entry(position: bytes, flat: Sequence[bytes]) -> LogEntry:
    fields = {flat[i]: flat[i + 1].decode("utf-8", "replace") for i in range(0, len(flat), 2)}
    return LogEntry(
        position=position.decode(),
        event=fields.get(b"event", ""),
        id=JobId(fields.get(b"id", "")),
        token=int(fields.get(b"attempt") or 0),
    )
