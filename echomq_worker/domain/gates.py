"""Gates: what a job that is ready may have to pass before it starts. Rates, caps and strikes.

A gate is named by its kind and its scope: `rate:queue`, `cap:name:mail`, `strike:key:mail/acme`.
"""

import re
from dataclasses import dataclass, field

from echomq_worker.domain.duration import LONGEST_MS, format_duration, parse_duration_ms
from echomq_worker.errors import InvalidArgumentError

MOST_RULES = 100
"""So many limits a queue may have; those of lanes are not counted."""
MOST_COUNT = 1_000_000
MOST_IN_WINDOW = 10_000
"""A sliding window remembers each start, so it is kept small."""
QUEUE = "queue"

_RATE = re.compile(r"([0-9]+)/([0-9.]*[a-z0-9.]+)")
_VALUE = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many starts a window.

    Args:
        count: how many, from 1.
        window_ms: in how long, in ms.
        burst: how many may start at once after a rest; the bucket's size.
        is_sliding: whether no window of this length may have more than `count` starts, wherever
            it begins. A bucket allows `count + burst`.
    """

    count: int
    window_ms: int
    burst: int = 1
    is_sliding: bool = False

    @property
    def rule(self) -> str:
        """As the scripts read it."""
        kind = "window" if self.is_sliding else "bucket"
        return f"{self.count} {self.window_ms} {self.burst} {kind}"

    def __str__(self) -> str:
        """As `parse_rate` reads it, with what is not the default."""
        text = f"{self.count}/{format_duration(self.window_ms)}"
        return f"{text} sliding" if self.is_sliding else f"{text} burst {self.burst}"


def parse_rate(spec: str, *, burst: int | None = None, sliding: bool = False) -> Rate:
    """Read a rate.

    Args:
        spec: how many in how long, such as `"50/s"`, `"1000/1h"` or `"5/10s"`.
        burst: how many may start at once after a rest; by default what a tenth of a second
            brings, at least 1.
        sliding: whether to count starts in a sliding window instead of filling a bucket.

    Raises:
        InvalidArgumentError: if it is no such text, has no unit, or is out of range.
    """
    found = _RATE.fullmatch(spec) if isinstance(spec, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if found is None or found[2][-1].isdigit():
        msg = f"the rate {spec!a:.80} is none: expected how many in how long, such as 50/s or 5/10s"
        raise InvalidArgumentError(msg)
    window = found[2] if found[2][0].isdigit() else f"1{found[2]}"
    count, window_ms = int(found[1]), parse_duration_ms(window)
    most = MOST_IN_WINDOW if sliding else MOST_COUNT
    if not 1 <= count <= most or not 1 <= window_ms <= LONGEST_MS:
        msg = f"the rate {spec!a:.80} is out of range: expected 1 to {most} in at least 1 ms"
        raise InvalidArgumentError(msg)
    if burst is None:
        burst = min(MOST_COUNT, max(1, count * 100 // window_ms))
    elif sliding:
        msg = "burst is given for a sliding window: expected a burst only for a bucket"
        raise InvalidArgumentError(msg)
    return Rate(count, window_ms, checked_count("burst", burst), sliding)


def checked_count(what: str, value: object) -> int:
    """Return a number of jobs; raise `InvalidArgumentError` unless it is whole and from 1."""
    if type(value) is int and 1 <= value <= MOST_COUNT:
        return value
    msg = f"{what} is {value!a:.80}: expected a whole number, 1 to {MOST_COUNT}"
    raise InvalidArgumentError(msg)


def limit_value(value: object) -> str:
    """Return the text of what a limit counts by: a text or a number.

    Raises:
        InvalidArgumentError: if it is neither, or is not 1 to 200 visible ASCII characters.
    """
    text = str(value) if type(value) is int else value
    if isinstance(text, str) and _VALUE.fullmatch(text):
        return text
    msg = (
        f"a limit counts by {value!a:.80}: expected a whole number, or a text of 1 to 200 visible "
        f"ASCII characters without spaces"
    )
    raise InvalidArgumentError(msg)


def limit_key(name: str, value: object) -> str:
    """Name one value of what a handler's limit counts by: `<handler>/<value>`.

    Scripts find the handler before the first `/`, so one in its own name is written `%2F`.

    Raises:
        InvalidArgumentError: if the value is no text or number that can be counted by.
    """
    return f"{_before_slash(name)}/{limit_value(value)}"


def by_key_scope(name: str) -> str:
    """Name all jobs of a handler, each value of what its limit counts by apart."""
    return f"key:{_before_slash(name)}"


def _before_slash(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


def scope_of(*, name: str | None = None, key: object = None, lane: str | None = None) -> str:
    """Name what a gate is about.

    Args:
        name: a handler; nothing given means the whole queue.
        key: with `name`: one value of what its limit counts by.
        lane: a lane's group.

    Raises:
        InvalidArgumentError: if they do not go together.
    """
    if lane is not None:
        if name is not None or key is not None:
            msg = "lane is given with name or key: expected a lane alone"
            raise InvalidArgumentError(msg)
        return f"lane:{lane}"
    if key is not None:
        if name is None:
            msg = "key is given without name: expected the handler whose limit counts by it"
            raise InvalidArgumentError(msg)
        return f"key:{limit_key(name, key)}"
    return QUEUE if name is None else f"name:{name}"


@dataclass(frozen=True, slots=True)
class DeclaredLimit:
    """A limit that stands in an application's code; a worker of its queue puts it in place.

    Args:
        queue: where the jobs are.
        scope: which ones.
        rate: how often they may start; None leaves that alone.
        concurrency: how many may be active at once; None leaves that alone.
    """

    queue: str
    scope: str
    rate: Rate | None
    concurrency: int | None


@dataclass(frozen=True, slots=True)
class Strike:
    """Jobs that somebody has stopped.

    Args:
        scope: which ones.
        until_ms: when they go on by themselves, in Unix ms; None means when they are let.
        reason: why.
        by: who did it.
        since_ms: since when, in Unix ms.
    """

    scope: str
    until_ms: int | None
    reason: str
    by: str
    since_ms: int | None


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate that has kept jobs back.

    Args:
        name: its kind and scope.
        opens_ms: when it opens by itself, in Unix ms; None if something has to happen.
        parked: how many jobs wait at it, or in the lane that it keeps back.
    """

    name: str
    opens_ms: int | None
    parked: int


@dataclass(frozen=True, slots=True)
class Gates:
    """All gates of a queue.

    Args:
        now_ms: the server's clock.
        limits: the rule of each limit, by gate.
        busy: how many jobs are active under each cap.
        strikes: what is stopped.
        shut: the gates at which jobs wait, or that keep the queue or a lane back.
        lane_names: what the lanes that have a rate are called, by their groups.
    """

    now_ms: int
    limits: dict[str, str]
    busy: dict[str, int]
    strikes: tuple[Strike, ...]
    shut: tuple[Gate, ...]
    lane_names: dict[str, str] = field(default_factory=dict[str, str])


def expected_ms(now_ms: int, opens_ms: int | None, before: int, rule: str) -> int:
    """Return when a job that is kept back by a rate may start, if nothing else comes in between.

    Args:
        now_ms: the server's clock.
        opens_ms: when the gate opens for the next one; None if it is open.
        before: how many wait before it.
        rule: the rate's rule; empty for none.
    """
    begins_ms = now_ms if opens_ms is None else max(now_ms, opens_ms)
    words = rule.split()
    if len(words) != 4 or not all(word.isdigit() for word in words[:3]):  # noqa: PLR2004 - a rule has four words
        return begins_ms
    count, window_ms, burst = (max(1, int(word)) for word in words[:3])
    if words[3] == "window":
        return begins_ms + before // count * window_ms
    ahead = before if opens_ms is not None else max(0, before - burst + 1)
    return begins_ms + -(-ahead * window_ms // count)
