"""The audit of `echomq doctor`, for tests, over a client that blocks."""

from typing import Any, cast

import redis
from redis.exceptions import NoScriptError

from echomq_worker.doctor.state import audit_steps
from echomq_worker.doctor.state.asking import Question, answered_by
from echomq_worker.doctor.state.notes import StateFinding
from echomq_worker.domain.finding import Finding
from tests.support.least_rights import unrestricted


def complaints_of(server: "redis.Redis | str", queue: str) -> list[str]:
    """Return what must not be there, whatever a test has done; `server` may be a URL.

    What only says how things stand (no worker is there, a lease has ended) is left out.
    """
    return [
        f"{finding.check}: {finding.text}"
        for finding in findings_of(server, queue)
        if not isinstance(finding, StateFinding) or finding.is_quiet
    ]


def findings_of(server: "redis.Redis | str", queue: str) -> list[Finding]:
    """Return all that the audit finds."""
    if not isinstance(server, str):
        return answered_by(lambda question: _ask(server, question), audit_steps(queue))
    with redis.Redis.from_url(unrestricted(server)) as client:
        return findings_of(client, queue)


def _ask(client: "redis.Redis", question: Question) -> Any:
    try:
        return cast("Any", client.execute_command(*question.evaluated(by_hash=True)))
    except NoScriptError:
        return cast("Any", client.execute_command(*question.evaluated(by_hash=False)))
