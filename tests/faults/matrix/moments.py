"""The moments of a job's life at which faults strike, and how a job is brought there."""

from dataclasses import dataclass

CLAIMING = ("beat", "claim", "settle")
"""The scripts that promote and hand out."""
SOON_MS = 1_200


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One column of the matrix."""

    calls: tuple[str, ...] = ()
    """The scripts of the call that is held; none: nothing is held."""
    names_job: bool = False
    """True if it is the call that names the job."""
    place: str = "active"
    """Where the job lies when the fault strikes; empty: it is not there yet."""
    run_s: float = 0.05
    """How long its first run takes."""
    ending: str = "ok"
    """How its run ends: `ok`, `retry` (fails once) or `dead`."""
    due_ms: int | None = None
    """When it is due, from the enqueue; None: at once."""
    turn: int = 0
    """The later, the sooner the moment is over by itself."""
    hands_out: bool = False
    """True if the call that is held hands the job out as well."""
    claims: int = 1
    """How often it is handed out when all goes well."""
    starts: int = 1
    """How often a handler is entered for it when all goes well."""


MOMENTS = {
    "enqueue": Moment(calls=("enqueue",), names_job=True, place="", run_s=1.0),
    "waiting": Moment(place="schedule", due_ms=SOON_MS, turn=1),
    "promote": Moment(calls=CLAIMING, place="schedule", due_ms=1, hands_out=True),
    "claim": Moment(calls=CLAIMING, place="pending", hands_out=True),
    "running": Moment(run_s=1.2, turn=1),
    "renew": Moment(calls=("extend",), names_job=True, run_s=1.5, turn=2),
    "finish": Moment(calls=("settle",), names_job=True),
    "retry": Moment(calls=("settle",), names_job=True, ending="retry", claims=2, starts=2),
    "dead": Moment(calls=("settle",), names_job=True, ending="dead"),
    "sweep": Moment(calls=("beat",), claims=2, hands_out=True),
    "tick": Moment(calls=("fire",), place=""),
    "drain": Moment(calls=("settle",), names_job=True, run_s=0.3),
}
