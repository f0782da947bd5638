"""Whether everything in a queue is where it belongs, and what to do if it is not."""

from collections.abc import Sequence
from dataclasses import replace

from echomq_worker.doctor.state.asking import Steps, answered
from echomq_worker.doctor.state.mending import mend_all
from echomq_worker.doctor.state.notes import Notes, StateFinding
from echomq_worker.doctor.state.walk import Audit
from echomq_worker.domain.finding import Finding, Severity
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.store import Server
from echomq_worker.store.translate import translated_errors

__all__ = ["audit", "audit_steps", "repair"]

ROUNDS = 100
"""A repair of a queue looks again at most so many times."""


async def audit(server: Server, queue: str) -> list[Finding]:
    """Return what is out of place in a queue, the worst first.

    Right on a queue that is at work, too: a job is looked at with all its places at one moment. It
    only reads, and no call keeps the server for longer than a few ms.

    Raises:
        ServerError: the server refuses, or does not answer.
    """
    with translated_errors():
        return await answered(server.wire, audit_steps(queue))


def audit_steps(queue: str) -> Steps[list[Finding]]:
    """Return the same audit as steps, for any client."""
    return Audit(Keyspace(queue), Notes(queue)).run()


async def repair(server: Server, queue: str, findings: Sequence[Finding]) -> list[Finding]:
    """Repair what can be repaired; return what was done.

    Each repair looks again before it changes anything, so that it is safe on a queue at work, and
    safe to repeat. What one repair brings to light is repaired too.

    Raises:
        ServerError: the server refuses, or does not answer; what was done before stays done.
    """
    keys = Keyspace(queue)
    done: list[Finding] = []
    for _ in range(ROUNDS):
        wanted = (each for each in findings if isinstance(each, StateFinding))
        with translated_errors():
            changed = await answered(server.wire, mend_all(keys, wanted))
        if not changed:
            break
        done += (replace(each, severity=Severity.OK) for each in changed)
        findings = await audit(server, queue)
    return done
