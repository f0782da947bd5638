"""Examines a server, this machine and the state of queues: what is wrong, and what to do."""

from collections.abc import Sequence

from echomq_worker.config import Settings
from echomq_worker.doctor.environment import ENVIRONMENT, judge
from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.gather import gather
from echomq_worker.domain.finding import Finding, Severity
from echomq_worker.store import Server

__all__ = ["ENVIRONMENT", "Facts", "Finding", "Severity", "examine", "gather", "judge"]


async def examine(server: Server, settings: Settings, queues: Sequence[str] = ()) -> list[Finding]:
    """Return the findings about the server and this machine, then those about queues.

    Args:
        server: need not be open; one that cannot be reached is a finding.
        settings: how a worker is set up.
        queues: whose state to look at.
    """
    from echomq_worker.doctor.queues import look_at  # noqa: PLC0415 - not for the environment

    facts = await gather(server, settings, queues)
    findings = judge(facts)
    if facts.trouble is None:
        for queue in queues:
            findings += await look_at(server, queue)
    return findings
