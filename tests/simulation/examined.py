"""What the doctor says of the queue when a run is over."""

from echomq_worker.doctor.state import audit_steps
from echomq_worker.doctor.state.asking import answered_by
from echomq_worker.doctor.state.notes import StateFinding
from tests.simulation.server import EXPIRIES, VirtualServer
from tests.simulation.worker import QUEUE


def doctors_complaints(server: VirtualServer) -> list[str]:
    """Return what must not be there; virtual expiries are made real first."""
    for key in server.ask("ZRANGE", EXPIRIES, 0, -1):
        server.ask("PEXPIRE", key, 600_000)
    found = answered_by(
        lambda question: server.ask(*question.evaluated(by_hash=False)), audit_steps(QUEUE)
    )
    return [
        f"{finding.check}: {finding.text}"
        for finding in found
        if not isinstance(finding, StateFinding) or finding.is_quiet
    ]
