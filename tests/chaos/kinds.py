"""What jobs there are, and how each is to end."""

from dataclasses import dataclass

BACKOFF_MS = 200
"""How long a failed job waits for its next attempt."""
DYING_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of job. In the records it is a letter."""

    letter: str
    name: str
    """The handler's name."""
    weight: int
    """How many of a hundred jobs are of this kind."""
    dies: bool = False
    """True if it never works, so that it is to be dead in the end."""


QUICK = Kind("q", "quick", 57)
NAP = Kind("n", "nap", 20)
LONG = Kind("l", "long_nap", 1)
FAILS_ONCE = Kind("f", "fails_once", 5)
TIMES_OUT = Kind("t", "times_out_once", 2)
DIES = Kind("d", "dies", 2, dies=True)
KEPT = Kind("k", "keeps_result", 5)
THREAD = Kind("s", "in_thread", 8)
BLOCKS = Kind("b", "blocks_loop", 0)
"""Only enqueued as a fault."""
KINDS = (QUICK, NAP, LONG, FAILS_ONCE, TIMES_OUT, DIES, KEPT, THREAD, BLOCKS)
BY_LETTER = {kind.letter: kind for kind in KINDS}
