"""Priorities: who of those that wait runs first."""

from echomq_worker.errors import InvalidArgumentError

HIGHEST = 2**20
"""A priority lies between this and its negative, so that with an arrival number it fits a score."""
TIER = 2**32
"""The distance between the scores of two priorities: so many arrivals fit in between."""


def checked_priority(value: object) -> int:
    """Return a priority if it is one: a whole number, -2**20 to 2**20; lower runs first.

    Raises:
        InvalidArgumentError: if it is none.
    """
    if type(value) is int and -HIGHEST <= value <= HIGHEST:
        return value
    msg = (
        f"the priority is {value!a:.80}: expected a whole number, {-HIGHEST} to {HIGHEST}, of "
        f"which the lowest runs first; 0 is the default"
    )
    raise InvalidArgumentError(msg)


def priority_score(priority: int, arrival: int) -> int:
    """Return the score of a waiting job: priority x 2^32 + arrival number, exact in a double."""
    return priority * TIER + arrival
