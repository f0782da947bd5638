"""What must hold for every scheduler of a simulated year."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from echomq_worker.domain.scheduling.plan import wake_ms
from echomq_worker.protocol.keyspace import Keyspace
from tests.simulation.timetable import DAY, Entry
from tests.simulation.watched import Shot
from tests.simulation.worker import QUEUE
from tests.simulation.year import Year

PROMPT_MS = 12_000
"""A call may be lost and asked again a few times."""
READ_MS = 8_000
"""What is fired was decided by a look no longer before."""


def broken(year: Year) -> list[str]:
    """Return what did not hold."""
    shots: dict[str, list[Shot]] = defaultdict(list)
    for shot in year.server.shots:
        shots[shot.name].append(shot)
    found: list[str] = []
    for entry in year.entries:
        name = entry.spec.name
        found += (f"{name}: {what}" for what in _of_one(year, entry, shots.pop(name, [])))
    found += (f"{name}: fired, and never declared" for name in shots)
    return found + list(_of_rows(year))


def _of_one(year: Year, entry: Entry, shots: list[Shot]) -> Iterator[str]:
    fired = Counter(instant for shot in shots for instant in shot.instants)
    expected = set(entry.expected)
    yield from (f"fired {often} times for {at}" for at, often in fired.items() if often > 1)
    yield from (f"fired for {at}, which is no instant of it" for at in fired if at not in expected)
    yield from _by_the_policy(entry, shots)
    yield from _in_time(year, entry, shots)
    row = _books(year, entry)
    over = entry.expected.index(row["next"]) if row["next"] in expected else len(entry.expected)
    if row["count"] != sum(fired.values()):
        yield f"made {sum(fired.values())} jobs and counts {row['count']}"
    if row["count"] + row["missed"] != over:
        yield f"{row['count']} fired and {row['missed']} missed of {over}"


def _by_the_policy(entry: Entry, shots: list[Shot]) -> Iterator[str]:
    """Each firing takes of what was due just what the policy says."""
    done = 0
    for shot in shots:
        allowed: list[tuple[int, ...]] = []
        ends: list[int] = []
        for decided_ms in range(shot.at_ms, shot.at_ms - READ_MS, -500):
            end = done
            while end < len(entry.expected) and _wake(entry, end) <= decided_ms:
                end += 1
            allowed.append(_policy(entry, done, end, decided_ms))
            ends.append(end)
        if shot.instants not in allowed:
            yield f"fired {shot.instants} at {shot.at_ms}: expected one of {set(allowed)}"
            return
        done = ends[allowed.index(shot.instants)]


def _policy(entry: Entry, first: int, end: int, now_ms: int) -> tuple[int, ...]:
    misfire = entry.spec.misfire
    most = {"latest": 1, "none": 1, "all": misfire.most}[misfire.policy]
    late_ms = misfire.within_ms or (60_000 if misfire.policy == "none" else 1_000 * DAY)
    return tuple(
        entry.expected[at]
        for at in range(max(first, end - most), end)
        if now_ms - _wake(entry, at) <= late_ms
    )


def _in_time(year: Year, entry: Entry, shots: list[Shot]) -> Iterator[str]:
    """While somebody watches, each instant is fired at once."""
    at_ms = {instant: shot.at_ms for shot in shots for instant in shot.instants}
    spans = iter(year.covered)
    begin, end = next(spans, (0, 0))
    for place, instant in enumerate(entry.expected):
        wake = _wake(entry, place)
        while end < wake + PROMPT_MS:
            span = next(spans, None)
            if span is None:
                return
            begin, end = span
        if begin <= wake and not wake <= at_ms.get(instant, 0) <= wake + PROMPT_MS:
            yield f"somebody watched, and {instant} (wakes {wake}) fired at {at_ms.get(instant)}"


def _wake(entry: Entry, place: int) -> int:
    return wake_ms(entry.spec, entry.expected[place])


def _books(year: Year, entry: Entry) -> dict[str, int]:
    names = ("next", "count", "missed")
    key = f"{Keyspace(QUEUE).root}scheduler:{entry.spec.name}"
    values = year.server.ask("HMGET", key, *names)
    return {name: int(value or 0) for name, value in zip(names, values, strict=True)}


def _of_rows(year: Year) -> Iterator[str]:
    """The jobs that lie in Redis are those that were fired, with the payload of their time."""
    keys = Keyspace(QUEUE)
    fired = Counter((shot.name, at) for shot in year.server.shots for at in shot.instants)
    rows: Counter[tuple[str, int]] = Counter()
    payloads: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for job in year.server.ask("ZRANGE", keys.pending, 0, -1):
        key = f"{keys.root}job:{job.decode()}"
        name, instant, payload = year.server.ask("HMGET", key, "scheduler", "instant", "payload")
        rows[name.decode(), int(instant)] += 1
        payloads[name.decode()].append((int(instant), int(payload)))
    if rows != fired:
        yield f"jobs and firings differ: {list((rows - fired) + (fired - rows))[:5]}"
    for name, versions in payloads.items():
        told = [version for _, version in sorted(versions)]
        if told != sorted(told):
            yield f"{name}: an old version of the code came back after a new one"
