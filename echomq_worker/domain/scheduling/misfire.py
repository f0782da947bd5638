"""What becomes of occurrences that nobody fired in time, because no worker was there."""

import re
from dataclasses import dataclass

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import LONGEST_MS, format_duration, parse_duration_ms
from echomq_worker.domain.limits import MADE_UP
from echomq_worker.errors import InvalidArgumentError

LATEST = "latest"
NONE = "none"
ALL = "all"
POLICIES = (LATEST, NONE, ALL)
MOST = 10
"""How many occurrences `all` makes up for, unless told otherwise."""
PROMPT_MS = 60_000
"""`none` still fires an occurrence this long after its time: nobody is ever quite on time."""

_CALL = re.compile(r"(latest|none|all)(?:\(([^()]{0,60})\))?")
_OPTION = re.compile(r"\s*(max|within)\s*=\s*['\"]?([0-9a-z.]{1,40})['\"]?\s*")


@dataclass(frozen=True, slots=True)
class Misfire:
    """Which of the occurrences that are due at once are fired; the others count as missed.

    Raises:
        InvalidArgumentError: for an unknown policy, and for numbers out of range.
    """

    policy: str = LATEST
    """`latest`: the newest. `none`: the newest, if it is hardly late. `all`: the newest `most`."""
    most: int = MOST
    """Only for `all`: 1 to 100."""
    within_ms: int | None = None
    """How late an occurrence may be fired at all; None means for ever (`none`: 60 s)."""

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise InvalidArgumentError(_no_policy(self.policy))
        if type(self.most) is not int or not 1 <= self.most <= MADE_UP:
            msg = f"misfire 'all' has max={self.most!r}: expected a whole number, 1 to {MADE_UP}"
            raise InvalidArgumentError(msg)
        if self.policy != ALL and self.most != MOST:
            msg = f"misfire {self.policy!r} takes no max: only 'all' fires more than one"
            raise InvalidArgumentError(msg)
        if self.within_ms is not None and not 1 <= self.within_ms <= LONGEST_MS:
            msg = f"misfire has within={self.within_ms}ms: expected 1ms to 100 years"
            raise InvalidArgumentError(msg)

    @property
    def taken(self) -> int:
        """The most occurrences that are fired at once."""
        return self.most if self.policy == ALL else 1

    @property
    def latest_by_ms(self) -> int | None:
        """How late an occurrence may be fired, in ms; None for no bound."""
        if self.within_ms is None and self.policy == NONE:
            return PROMPT_MS
        return self.within_ms

    def __str__(self) -> str:
        """As `misfire_from` reads it: `latest`, `all(max=10, within=1d)`."""
        options = [f"max={self.most}"] if self.policy == ALL else []
        if self.within_ms is not None:
            options.append(f"within={format_duration(self.within_ms)}")
        return f"{self.policy}({', '.join(options)})" if options else self.policy


LATEST_MISSED = Misfire()
"""The default."""


def latest_missed(*, within: Duration | None = None) -> Misfire:
    """Fire the newest missed occurrence once, and no other.

    Args:
        within: how late it may be fired; what is older is dropped. None means at any time.
    """
    return Misfire(LATEST, within_ms=_within(within))


def no_missed(*, within: Duration | None = None) -> Misfire:
    """Fire nothing that was missed.

    Args:
        within: up to how much lateness an occurrence does not yet count as missed; 60 s.
    """
    return Misfire(NONE, within_ms=_within(within))


def all_missed(*, max: int = MOST, within: Duration | None = None) -> Misfire:  # noqa: A002 - as it reads
    """Fire the newest missed occurrences, the oldest of them first.

    Args:
        max: how many at most, 1 to 100; older ones are dropped.
        within: how late one may be fired; what is older is dropped. None means at any time.
    """
    return Misfire(ALL, max, _within(within))


def misfire_from(spec: str | Misfire) -> Misfire:
    """Turn what was given for the misfire policy into one.

    Args:
        spec: a policy as it is; or `"latest"`, `"none"`, `"all"`, each also with options, such as
            `"all(max=5, within=1d)"`.

    Raises:
        InvalidArgumentError: if it is none of these.
    """
    if isinstance(spec, Misfire):
        return spec
    match = _CALL.fullmatch(spec.strip()) if isinstance(spec, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if match is None:
        raise InvalidArgumentError(_no_policy(spec))
    policy, inside = match.groups()
    options = _options(spec, inside)
    most = options.get("max", str(MOST))
    if not re.fullmatch(r"[0-9]{1,6}", most):
        raise InvalidArgumentError(_no_policy(spec))
    if policy != ALL and "max" in options:
        msg = f"misfire {spec!r} takes no max: only 'all' fires more than one"
        raise InvalidArgumentError(msg)
    return Misfire(policy, int(most), _within(options.get("within")))


def _options(spec: str, inside: str | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in (inside or "").split(",") if (inside or "").strip() else ():
        option = _OPTION.fullmatch(part)
        if option is None or option[1] in found:
            raise InvalidArgumentError(_no_policy(spec))
        found[option[1]] = option[2]
    return found


def _within(within: Duration | None) -> int | None:
    return None if within is None else parse_duration_ms(within)


def _no_policy(spec: object) -> str:
    return (
        f"{spec!r} is no misfire policy: expected 'latest', 'none', 'all' or such as "
        f"'all(max=5, within=1d)'"
    )
