"""What keeps the jobs of a queue back: its limits, and what has been stopped."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from echomq_worker.domain.gates import (
    MOST_RULES,
    QUEUE,
    Gate,
    Gates,
    Rate,
    Strike,
    checked_count,
    expected_ms,
)
from echomq_worker.domain.job import JobId
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.protocol.rows import read_ms
from echomq_worker.protocol.scripts import Operand
from echomq_worker.store.wire import Reply

Change = Callable[[str, Mapping[str, Operand], Sequence[Operand]], Awaitable[Reply]]
"""Runs a script of the queue, by name; asked again if it was not answered."""
_COUNTED = 10_000
_TOO_MANY = 2
_UNTOLD = frozenset({b"active", b"none", b"kept"})


class GateStore:
    """The gates of one queue. Reached as `QueueStore.gates`.

    Every method raises `ServerError` (or one of its kinds) if the server refuses or is silent. All
    are safe to repeat.
    """

    def __init__(self, change: Change) -> None:
        self._change = change

    async def limit_rate(self, scope: str, rate: Rate | None) -> bool:
        """Set how often jobs of a scope may start; None takes the limit away.

        Returns:
            False if it was so already.

        Raises:
            InvalidArgumentError: if the queue has too many limits.
        """
        return await self._put("rate", scope, "" if rate is None else rate.rule)

    async def limit_concurrency(self, scope: str, most: int | None) -> bool:
        """Set how many jobs of a scope may be active at once; None takes the limit away.

        Returns:
            False if it was so already.

        Raises:
            InvalidArgumentError: if it is no number from 1, or the queue has too many limits.
        """
        rule = "" if most is None else str(checked_count("concurrency", most))
        return await self._put("cap", scope, rule)

    async def strike(
        self,
        scope: str,
        *,
        for_ms: int | None = None,
        at_least: bool = False,
        reason: str = "",
        by: str = "",
    ) -> int | None:
        """Stop jobs of a scope before they start; return when they go on by themselves, in Unix ms.

        Args:
            scope: which ones, as `scope_of` names them.
            for_ms: for how long, by the server's clock; None means until they are let.
            at_least: whether to leave alone a stop that holds for longer.
            reason: why, for those who wonder later.
            by: who does it.
        """
        note = json.dumps({"reason": reason, "by": by}, separators=(",", ":"))
        until = "-" if for_ms is None else f"+{for_ms}"
        args: dict[str, Operand] = {
            "scope": scope,
            "until_ms": until,
            "at_least": int(at_least),
            "note": note,
        }
        return read_ms(await self._change("strike", args, ()))

    async def lift(self, scope: str) -> bool:
        """Let stopped jobs go on, each from its place; False if they were not stopped."""
        return await self._change("lift_strike", {"scope": scope}, ()) == 1

    async def recount(self) -> int:
        """Count anew who holds slots of caps; return how many counts were wrong.

        A peer of the base wire that completes a job knows nothing of its slots. On a queue with
        more than ten thousand active jobs nothing is done.
        """
        return await self._change("recount_slots", {"gate": "", "most": _COUNTED}, ())

    async def read(self) -> Gates:
        """Return all gates, at most a thousand of each kind."""
        now_ms, ceiling, limits, strikes, busy, lanes, shut, names = await self._change(
            "read_gates", {}, ()
        )
        rules = _texts(limits)
        if ceiling:
            rules[f"cap:{QUEUE}"] = _text(ceiling)
        rules |= {f"rate:lane:{group}": rule for group, rule in _texts(lanes).items()}
        return Gates(
            now_ms=now_ms,
            limits=rules,
            busy={gate: int(count) for gate, count in _texts(busy).items()},
            strikes=tuple(_strike(scope, text) for scope, text in _texts(strikes).items()),
            shut=tuple(Gate(_text(name), read_ms(opens), parked) for name, opens, parked in shut),
            lane_names=_texts(names),
        )

    async def expected_ms(self, job_id: JobId) -> int | None:
        """Return when a job may start, in Unix ms, as far as clocks and rates tell.

        None if that depends on what happens (a cap, a strike without an end, a paused queue), or
        if there is nothing to start: it runs, or is gone.
        """
        now_ms, place, opens, before, rule, paused = await self._change(
            "expected_start", {"id": job_id}, ()
        )
        opens_ms = read_ms(opens)
        if paused or place in _UNTOLD or (place == b"parked" and opens_ms is None):
            return None
        return expected_ms(now_ms, opens_ms, before, _text(rule))

    async def _put(self, kind: str, scope: str, rule: str) -> bool:
        args: dict[str, Operand] = {"kind": kind, "scope": scope, "rule": rule, "most": MOST_RULES}
        verdict = await self._change("put_limit", args, ())
        if verdict == _TOO_MANY:
            msg = f"the queue has {MOST_RULES} limits: expected no more; take one away first"
            raise InvalidArgumentError(msg)
        return verdict == 1


def _strike(scope: str, text: str) -> Strike:
    until, _, rest = text.partition(" ")
    since, _, note = rest.partition(" ")
    try:
        told: Any = json.loads(note)
    except ValueError:
        told = {}
    said = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    return Strike(
        scope=scope,
        until_ms=None if until == "-" else read_ms(until.encode()),
        reason=str(said.get("reason", "")),
        by=str(said.get("by", "")),
        since_ms=int(since) if since.isdigit() else None,
    )


def _texts(flat: Sequence[bytes]) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in zip(flat[::2], flat[1::2], strict=True)}


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
