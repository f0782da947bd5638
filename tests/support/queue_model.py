"""What the scripts should do to a queue of flat jobs, in plain Python."""

from collections.abc import Callable, Sequence

from echomq_worker.domain.job import Held, JobId
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from tests.support.queue_operated import OperatedQueue
from tests.support.queue_state import (
    BELL_CAP,
    TO_COME,
    Call,
    Handout,
    Row,
    ordered,
    passed,
    passed_or_not,
)

CODES = {Verdict.GONE: "0", Verdict.OK: "1", Verdict.ALREADY: "2", Verdict.STALE: "3"}


class QueueModel(OperatedQueue):
    """One queue, and what may be done to it."""

    # --- admission -------------------------------------------------------------------------

    def enqueue(self, call: Call, ids: Sequence[JobId], delay: int | None, most: int | None) -> str:
        """Admit jobs, at once or after a delay; return one character a job."""
        earlier = self.earlier(call)
        if earlier is not None:
            return earlier
        verdicts, admitted = "", list[JobId]()
        for id_ in ids:
            if id_ in self.rows:
                verdicts += "0"
                continue
            self.rows[id_] = Row("pending" if delay is None else "scheduled", id_, most)
            admitted.append(id_)
            verdicts += "1"
        if delay is None:
            self.wait(admitted)
        else:
            self.schedule.update((id_, delay) for id_ in admitted)
            self.nudge(admitted)
        self.keep(call, verdicts, changed=bool(admitted))
        return verdicts

    # --- claim and settle ------------------------------------------------------------------

    def claim(self, call: Call, limit: int, promote: int) -> Handout:
        """Promote and hand out."""
        earlier = self.earlier(call)
        if earlier is not None:
            return self._same_handout(call, earlier)
        handout = self._new_handout(call, limit, promote)
        self.keep(call, " ".join(handout.ids), changed=bool(handout.ids))
        return handout

    def beat(
        self,
        call: Call,
        limit: int,
        promote: int,
        reap: Callable[[], tuple[list[JobId], list[JobId]]],
    ) -> tuple[Handout, list[str], list[str]]:
        """Take back, promote and hand out; `reap` does the first."""
        earlier = self.earlier(call)
        if earlier is not None:
            ids, recovered, buried = [*earlier.split(";"), "", ""][:3]
            return self._same_handout(call, ids), recovered.split(), buried.split()
        recovered, buried = (list[str](ids) for ids in reap())
        handout = self._new_handout(call, limit, promote)
        told = ";".join(["", " ".join(recovered), " ".join(buried)]) if recovered + buried else ""
        changed = bool(handout.ids or told)
        self.keep(call, " ".join(handout.ids) + told, changed=changed)
        return handout, recovered, buried

    def settle(
        self, call: Call, outcomes: Sequence[tuple[Held, Outcome]], limit: int, promote: int
    ) -> tuple[str, Handout]:
        """Write outcomes, then hand out; return one character an outcome."""
        earlier = self.earlier(call)
        if earlier is not None:
            verdicts, _, ids = earlier.partition(";")
            return verdicts, self._same_handout(call, ids)
        verdicts, taken = "", dict[JobId, tuple[Held, Outcome]]()
        for held, outcome in outcomes:
            verdict = Verdict.ALREADY if held.id in taken else self.hold(held)
            verdicts += CODES[verdict]
            if verdict is Verdict.OK:
                taken[held.id] = (held, outcome)
        for held, outcome in taken.values():
            self.leave(held.id)
            self._write(held, outcome)
        self.wait([id_ for id_, (_, outcome) in taken.items() if outcome == HandedBack()])
        handout = self._new_handout(call, limit, promote)
        self.nudge([id_ for id_ in taken if id_ in self.schedule])
        changed = bool(taken or handout.ids)
        self.keep(call, f"{verdicts};{' '.join(handout.ids)}", changed=changed)
        return verdicts, handout

    def hold(self, held: Held) -> Verdict:
        """Tell whether an outcome of this claim counts."""
        row = self.rows.get(held.id)
        if row is None:
            return Verdict.GONE
        if row.claim == f"{held.claim}!":
            return Verdict.ALREADY
        mine = row.claim == held.claim and row.attempts == held.token
        return Verdict.OK if mine and held.id not in self.dead else Verdict.STALE

    def extend(self, jobs: Sequence[Held], lease: int) -> list[Verdict]:
        """Push leases back."""
        verdicts: list[Verdict] = []
        for held in jobs:
            verdict = self.hold(held)
            if verdict is not Verdict.GONE and (
                verdict is not Verdict.OK or held.id not in self.active
            ):
                verdict = Verdict.STALE
            if verdict is Verdict.OK:
                self.active[held.id] = lease
            verdicts.append(verdict)
        return verdicts

    # --- time ------------------------------------------------------------------------------

    def promote(self, limit: int) -> int:
        """Move what is due to where it may be claimed."""
        due = passed(self.schedule)[:limit]
        for id_ in due:
            del self.schedule[id_]
            self.rows[id_].state = "pending"
        self.wait(due)
        return len(due)

    def reap(
        self, limit: int, crash_limit: int, max_attempts: int
    ) -> tuple[list[JobId], list[JobId]]:
        """Take back jobs whose leases ran out; return the recovered and the buried."""
        lost = passed(self.active)[:limit]
        buried = [id_ for id_ in lost if self._lose(id_, crash_limit, max_attempts)]
        recovered = [id_ for id_ in lost if id_ not in buried]
        self.wait(recovered)
        return recovered, buried

    def sweep(self, limit: int, max_stalled: int) -> tuple[list[JobId], list[JobId]]:
        """Do the same by the base wire's rule, which has a counter of its own."""
        lost = passed(self.active)[:limit]
        for id_ in lost:
            row = self.rows[id_]
            del self.active[id_]
            row.state, row.stalled = "pending", (row.stalled or 0) + 1
            if 0 < max_stalled <= row.stalled:
                row.last_error = "stalled"
                self.bury(id_)
        recovered = [id_ for id_ in lost if id_ not in self.dead]
        self.wait(recovered)
        return recovered, [id_ for id_ in lost if id_ in self.dead]

    # --- parts -----------------------------------------------------------------------------

    def _new_handout(self, call: Call, limit: int, promote: int) -> Handout:
        self.promote(promote)
        ids: list[JobId] = []
        if limit and not self.paused:
            ids = sorted(self.pending)[:limit]
            for id_ in ids:
                row = self.rows[id_]
                row.state, row.claim, row.attempts = "active", call.claim_id, row.attempts + 1
                self.pending.remove(id_)
                self.active[id_] = TO_COME
        self._pass_on(limit)
        return self._handout(ids)

    def _pass_on(self, limit: int) -> None:
        if self.paused or not self.pending:
            self.bell = 0 if limit else self.bell
        elif limit or self.bell == 0:
            self.bell = min(BELL_CAP, self.bell + 1)

    def _same_handout(self, call: Call, ids: str) -> Handout:
        asked = [JobId(id_) for id_ in ids.split()]
        return self._handout(
            [id_ for id_ in asked if id_ in self.active and self.rows[id_].claim == call.claim_id]
        )

    def _handout(self, ids: list[JobId]) -> Handout:
        tokens = [self.rows[id_].attempts for id_ in ids]
        head = ordered(self.schedule)[:1]
        due = passed_or_not(self.schedule[head[0]]) if head else None
        return Handout(ids, tokens, len(self.pending), due, self.paused)

    def _write(self, held: Held, outcome: Outcome) -> None:
        row = self.rows[held.id]
        row.claim, row.crashes = f"{held.claim}!", None
        if not isinstance(outcome, HandedBack):
            row.unknown = isinstance(outcome, Snoozed) and outcome.unknown
        match outcome:
            case Completed(result, keep_ms):
                del self.rows[held.id]
                self.completed += 1
                if keep_ms:
                    self.kept[held.id] = (result or b"").decode()
                    self.unlisted.discard(held.id)
            case Retried(delay_ms, error, _, counted):
                row.last_error = error
                row.returned = row.returned if counted else (row.returned or 0) + 1
                self.later(held.id, delay_ms)
            case Buried(error):
                row.last_error = error
                self.bury(held.id)
            case Snoozed(delay_ms):
                row.returned = (row.returned or 0) + 1
                self.later(held.id, delay_ms)
            case HandedBack():
                row.returned = (row.returned or 0) + 1
                row.state = "pending"

    def _lose(self, id_: JobId, crash_limit: int, max_attempts: int) -> bool:
        row = self.rows[id_]
        del self.active[id_]
        row.state, row.crashes = "pending", (row.crashes or 0) + 1
        most, counted = row.max or max_attempts, row.attempts - (row.returned or 0)
        if 0 < crash_limit <= row.crashes:
            row.last_error = f"the lease was lost {row.crashes} times in a row"
        elif 0 < most <= counted:
            row.last_error = f"the lease was lost in attempt {counted} of {most}"
        else:
            return False
        self.bury(id_)
        return True
