"""Every condition in which a server refuses to work: what it becomes here, and what we do."""

from dataclasses import dataclass
from enum import Enum

from echomq_worker.errors import (
    AccessError,
    OutOfMemoryError,
    ServerError,
    UnavailableError,
    WrongTypeError,
)


class Reaction(Enum):
    """What a worker and a producer do about a condition."""

    SEND_SOURCE = "the whole script is sent, at once; nobody notices"
    WAIT = (
        "a worker waits, with backoff, and asks again under the same number; a producer does so "
        "for 10 s, then raises"
    )
    RECONNECT = "the connection is closed, since this server is no longer the one; then as above"
    DRAIN = (
        "what frees memory goes on: outcomes, leases, recovery, claims of what waits; the rest is "
        "asked again and the log says `server.full`; a producer raises at once"
    )
    GIVE_UP = "raised; a worker tries a few times more, then exits with code 77"
    FAIL = "raised; a worker tries a few times more, then exits with code 1"
    REFUSE = "raised, and nothing was changed; a worker logs it and serves its other queues"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a server, told by the first word of its reply."""

    code: str
    meaning: str
    error: type[ServerError] | None
    """What callers see; None if they never do."""
    reaction: Reaction


CONDITIONS = (
    Condition("NOSCRIPT", "it has forgotten our scripts", None, Reaction.SEND_SOURCE),
    Condition("LOADING", "it reads its data after a start", UnavailableError, Reaction.WAIT),
    Condition("BUSY", "somebody's script keeps it busy", UnavailableError, Reaction.WAIT),
    Condition("MISCONF", "it cannot save to its disk", UnavailableError, Reaction.WAIT),
    Condition("NOREPLICAS", "too few replicas are there", UnavailableError, Reaction.WAIT),
    Condition("MASTERDOWN", "a replica without its primary", UnavailableError, Reaction.WAIT),
    Condition("CLUSTERDOWN", "a part of the cluster is away", UnavailableError, Reaction.WAIT),
    Condition("TRYAGAIN", "keys are being moved", UnavailableError, Reaction.WAIT),
    Condition("UNBLOCKED", "a wait was ended from outside", UnavailableError, Reaction.WAIT),
    Condition("MAXCLIENTS", "it takes no more connections", UnavailableError, Reaction.WAIT),
    Condition("READONLY", "it has become a replica", UnavailableError, Reaction.RECONNECT),
    Condition("OOM", "its memory is full", OutOfMemoryError, Reaction.DRAIN),
    Condition("NOAUTH", "it wants a password", AccessError, Reaction.GIVE_UP),
    Condition("WRONGPASS", "the password is wrong", AccessError, Reaction.GIVE_UP),
    Condition("NOPERM", "the user may not do that", AccessError, Reaction.GIVE_UP),
    Condition("WRONGTYPE", "a key holds something else", WrongTypeError, Reaction.REFUSE),
    Condition("MOVED", "the queue is on another node", ServerError, Reaction.FAIL),
)
"""All of them, as the README lists them. `MAXCLIENTS` is our word: the server says a sentence."""

PASSING = frozenset(
    condition.code for condition in CONDITIONS if condition.error is UnavailableError
)
"""Conditions that pass by themselves, or that an operator ends."""


def conditions_table() -> str:
    """Return all conditions as a Markdown table; those with the same consequences share a row."""
    consequences = list(dict.fromkeys((one.error, one.reaction) for one in CONDITIONS))
    rows = [
        f"| {_told(error, reaction)} | {_shown(error)} | {reaction.value} |"
        for error, reaction in consequences
    ]
    return "\n".join(["| the server says | error | what happens |", "|---|---|---|", *rows])


def _told(error: type[ServerError] | None, reaction: Reaction) -> str:
    found = [one for one in CONDITIONS if (one.error, one.reaction) == (error, reaction)]
    return ", ".join(f"`{one.code}` ({one.meaning})" for one in found)


def _shown(error: type[ServerError] | None) -> str:
    return "" if error is None else f"`{error.__name__}`"
