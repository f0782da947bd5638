"""How a job lives: every move between two places, and the script that makes it.

The README's diagram is drawn from this table, and a test holds the scripts to it.
"""

from dataclasses import dataclass

NOWHERE = "[*]"
"""Where a job is before it is enqueued, and after it has completed or was removed."""


@dataclass(frozen=True, slots=True)
class Move:
    """One change of place."""

    source: str
    target: str
    cause: str
    scripts: tuple[str, ...]
    """The scripts that can make it, by name."""


_CLAIMING = ("claim", "settle", "beat", "claim_lane")
_PROMOTING = ("promote", "claim", "settle", "beat")
_REAPING = ("reap", "beat", "lane_reap")
_ENDING = ("remove", "drain", "lane_drain")
_FIRING = ("fire", "trigger_scheduler", "fire_repeats")

MOVES = (
    Move(NOWHERE, "pending", "enqueue", ("enqueue", "enqueue_unique")),
    Move(NOWHERE, "scheduled", "enqueue later", ("schedule", "enqueue_unique")),
    Move(NOWHERE, "pending", "a scheduler fires", _FIRING),
    Move("scheduled", "pending", "promote: it is due", _PROMOTING),
    Move("scheduled", "pending", "promote now", ("promote_job",)),
    Move("scheduled", "scheduled", "reschedule", ("reschedule",)),
    Move("pending", "active", "claim: attempt + 1, under a lease", _CLAIMING),
    Move(
        "pending", "pending", "another priority, or another lane", ("reprioritize", "lane_reassign")
    ),
    Move("active", NOWHERE, "complete", ("settle",)),
    Move("active", "scheduled", "retry after backoff, or snooze", ("settle",)),
    Move("active", "pending", "hand back, or the lease ran out", ("settle", *_REAPING)),
    Move(
        "active", "dead", "out of attempts, discarded, or crashed too often", ("settle", *_REAPING)
    ),
    Move("dead", "pending", "requeue", ("requeue",)),
    Move("pending", NOWHERE, "remove", _ENDING),
    Move("scheduled", NOWHERE, "remove", ("remove", "drain")),
    Move("dead", NOWHERE, "remove", ("remove",)),
    Move(
        "awaiting_children", "pending", "the last child has ended", ("settle", *_REAPING, *_ENDING)
    ),
    Move("awaiting_children", "dead", "a child has died", ("settle", *_REAPING, *_ENDING)),
)


def state_diagram() -> str:
    """Draw the moves as a Mermaid state diagram."""
    lines = [f"    {move.source} --> {move.target}: {move.cause}" for move in MOVES]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])
