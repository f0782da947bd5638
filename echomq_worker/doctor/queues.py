"""The state of queues: audited, repaired, and audited again."""

from echomq_worker.doctor.state import audit, repair
from echomq_worker.domain.finding import Finding, Severity
from echomq_worker.errors import AccessError, ServerError
from echomq_worker.store import Server

NAME = "state"
OPERATOR = "look as an operator: `echomq doctor --acl operator` prints the rule of one"


async def look_at(server: Server, queue: str) -> list[Finding]:
    """Return what is wrong with a queue; one finding that says so if it is nothing."""
    try:
        found = await audit(server, queue)
    except AccessError as error:
        text = f"its state may not be read by this user: {error}"
        return [_about(queue, Severity.WARN, text, OPERATOR)]
    except ServerError as error:
        return [_about(queue, Severity.FAIL, f"its state could not be read: {error}")]
    return found or [_about(queue, Severity.OK, "nothing is out of place")]


async def mend(server: Server, queue: str) -> tuple[list[Finding], list[Finding]]:
    """Repair a queue; return what was done, and what an audit finds afterwards."""
    done = await repair(server, queue, await audit(server, queue))
    return done, await look_at(server, queue)


def _about(queue: str, severity: Severity, text: str, hint: str = "") -> Finding:
    return Finding(check=NAME, severity=severity, text=text, hint=hint, queue=queue)
