"""What operators do to a queue of flat jobs, and producers who change their minds."""

from collections.abc import Mapping, Sequence

from echomq_worker.domain.job import JobId
from tests.support.queue_state import Call, QueueState

WORDS = {"0": "gone", "1": "ok", "3": "not_scheduled"}
REMOVED = ("gone", "ok", "elsewhere", "active", "locked")
REQUEUED = {"0": "gone", "1": "ok", "3": "not_dead"}


class OperatedQueue(QueueState):
    """One queue, and what is done to it from outside."""

    # --- operators -------------------------------------------------------------------------

    def resume(self) -> None:
        """Hand out again, and ring for what waits."""
        self.paused = False
        self.ring(len(self.pending))

    def forget(self) -> bool:
        """Forget counters, marks and lists, unless there are jobs; results expire by themselves."""
        if self.rows:
            return False
        self.completed = self.failed = self.bell = self.clock = 0
        self.unlisted = set(self.kept)
        self.paused = False
        return True

    def requeue(self, call: Call, ids: Sequence[JobId]) -> list[str]:
        """Bring dead jobs back."""
        earlier = self.earlier(call)
        if earlier is not None:
            return [REQUEUED[one] for one in earlier]
        verdicts: list[str] = []
        back: list[JobId] = []
        for id_ in ids:
            row = self.rows.get(id_)
            verdicts.append("gone" if row is None else "ok" if id_ in self.dead else "not_dead")
            if row is not None and id_ in self.dead:
                self.dead.remove(id_)
                row.state, row.returned = "pending", row.attempts
                row.last_error = row.crashes = None
                row.unknown = False
                if row.claim and not row.claim.endswith("!"):
                    row.claim = "!"
                back.append(id_)
        self.wait(back)
        self.keep(call, _codes(verdicts, REQUEUED), changed=bool(back))
        return verdicts

    def reschedule(self, call: Call, ids: Sequence[JobId], due: int) -> list[str]:
        """Let jobs be due at another time."""
        earlier = self.earlier(call)
        if earlier is not None:
            return [WORDS[one] for one in earlier]
        moved = [self._scheduled(id_) for id_ in ids]
        there = [id_ for id_ in ids if id_ in self.schedule]
        self.schedule.update((id_, due) for id_ in there)
        self.nudge(there)
        self.keep(call, _codes(moved, WORDS), changed=bool(there))
        return moved

    def promote_now(self, call: Call, ids: Sequence[JobId]) -> list[str]:
        """Let jobs be claimed whose time has not come."""
        earlier = self.earlier(call)
        if earlier is not None:
            return [WORDS[one] for one in earlier]
        moved, there = list[str](), list[JobId]()
        for id_ in ids:
            moved.append(self._scheduled(id_))
            if self.schedule.pop(id_, None) is not None:
                self.rows[id_].state = "pending"
                there.append(id_)
        self.wait(there)
        self.keep(call, _codes(moved, WORDS), changed=bool(there))
        return moved

    def _scheduled(self, id_: JobId) -> str:
        if id_ not in self.rows:
            return "gone"
        return "ok" if id_ in self.schedule else "not_scheduled"

    def remove(self, call: Call, id_: JobId, places: str) -> str:
        """Remove a job that is not held."""
        earlier = self.earlier(call)
        if earlier is None:
            earlier = self._remove(id_, places)
            self.keep(call, str(REMOVED.index(earlier)), changed=earlier == "ok")
            return earlier
        return REMOVED[int(earlier)]

    def _remove(self, id_: JobId, places: str) -> str:
        if id_ not in self.rows:
            return "gone"
        if id_ in self.active:
            return "active"
        if places != "any" and (id_ in self.dead) != (places == "dead"):
            return "elsewhere"
        self.leave(id_)
        self.dead.discard(id_)
        self.schedule.pop(id_, None)
        del self.rows[id_]
        return "ok"


def _codes(words: Sequence[str], meant: Mapping[str, str]) -> str:
    codes = {word: code for code, word in meant.items()}
    return "".join(codes[one] for one in words)
