"""Ways to break the product, each of which the simulation has to notice."""

from collections.abc import Callable

from tests.simulation.server import Change


def _replaced(old: str, new: str, *scripts: str) -> Callable[[], Change]:
    def change(name: str, source: str) -> str:
        if name not in scripts:
            return source
        assert old in source, f"{name}.lua has changed: look for another {old!r}"
        return source.replace(old, new)

    return lambda: change


def _both(*changes: Callable[[], Change]) -> Callable[[], Change]:
    def change(name: str, source: str) -> str:
        for each in changes:
            source = each()(name, source)
        return source

    return lambda: change


def _unchanged(_name: str, source: str) -> str:
    return source


MUTANTS: dict[str, Callable[[], Change]] = {
    "receipts are forgotten": _replaced(
        "local kept = redis.pcall('GET', receipt)",
        "local kept = false",
        "enqueue",
        "schedule",
        "claim",
        "beat",
        "settle",
    ),
    "a finish is not fenced by its claim": _replaced(
        "if row[1] ~= token or own ~= claim then return '3' end", "", "settle"
    ),
    "nothing is reaped": _replaced(
        "if #expired.ids == 0 then return recovered, buried end",
        "do return recovered, buried end",
        "beat",
    ),
    "leases are short": _replaced(
        "now + lease_ms", "now + lease_ms / 4", "claim", "beat", "settle"
    ),
    "leases are not extended": _replaced(
        "redis.call('ZADD', active, now + lease_ms, id)", "", "extend"
    ),
    "a death has no time": _replaced("redis.call('ZADD', dead_at, now, job.id)", "", "settle"),
    "due times are early": _replaced(
        "'-inf', now, 'LIMIT'", "'-inf', now + 40, 'LIMIT'", "claim", "beat", "settle"
    ),
    "a firing is not fenced": _both(
        _replaced("or row[2] ~= firing.expected", "", "fire"),
        _replaced(
            "if not held and state.last and tonumber(instant) <= state.last", "if false", "fire"
        ),
    ),
    "what is missed is not counted": _replaced(
        "state.missed + firing.missed", "state.missed", "fire"
    ),
}


def apply_mutant(name: str | None) -> Change:
    """Break what `name` says in this process; return what becomes of the scripts."""
    return _unchanged if name is None else MUTANTS[name]()
