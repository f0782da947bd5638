"""Schedulers in simulated worlds: what a seed plans, and what is promised of each."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

from echomq_worker.domain.job import JobId
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template

if TYPE_CHECKING:
    from tests.simulation.world import World

LAST_MS = 6_500
"""Nothing fires later than this, from the start of the run: the quiet time is to find an end."""
BEGUN_BY_MS = 3_000
HANDLER = "tick"
KINDS = ("ok",) * 5 + ("fail", "retry", "snooze", "discard")


@dataclass(frozen=True, slots=True)
class PlannedScheduler:
    """One scheduler, and when somebody declares it."""

    at_ms: int
    spec: SchedulerSpec


@dataclass(frozen=True, slots=True)
class FiredOccurrence:
    """An occurrence for which the server has made a job."""

    at_ms: int
    """By the server's clock."""
    scheduler: str
    instant: int
    id: JobId


def schedulers_of(seed: int, epoch_ms: int) -> list[PlannedScheduler]:
    """Draw the schedulers of a seed: none in many, so that jobs alone are looked at as well."""
    dice = Random(f"{seed} schedulers")
    end = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=epoch_ms + LAST_MS)
    return [
        PlannedScheduler(
            dice.randint(0, BEGUN_BY_MS),
            scheduler_spec(
                f"s{number}",
                template=Template(name=HANDLER, payload=b"{}"),
                every=f"{dice.choice([300, 700, 1_300])}ms",
                jitter=dice.choice([None, "100ms"]),
                misfire=dice.choice(["latest", "none", "all(max=100)"]),
                overlap=dice.choice(["allow", "skip", "queue-one"]),
                end=end,
            ),
        )
        for number in range(dice.choice([0, 0, 0, 1, 2]))
    ]


def broken_promises(world: "World") -> list[str]:
    """Return what was promised of schedulers and did not hold.

    Each occurrence is fired once at most, not before its time, and each that was not fired is
    accounted for.
    """
    fired, broken = world.network.fired, list[str]()
    broken += [
        f"{id_} was made {n} times" for id_, n in Counter(f.id for f in fired).items() if n > 1
    ]
    for planned in world.plan.schedulers:
        name = planned.spec.name
        row = world.server.ask("HGETALL", world.keys.scheduler(name))
        books = {row[i].decode(): row[i + 1].decode() for i in range(0, len(row), 2)}
        if books:
            mine = [each for each in fired if each.scheduler == name]
            broken += [f"{name}: {text}" for text in _of_one(planned.spec, books, mine)]
        elif name in world.seen.declared:
            broken.append(f"{name} was declared, and is not there")
    return broken


def _of_one(spec: SchedulerSpec, books: dict[str, str], fired: list[FiredOccurrence]) -> list[str]:
    created_ms, end_ms = int(books["created"]), spec.end_ms or 0
    broken = [
        f"{each.instant} was fired {each.instant - each.at_ms} ms early"
        for each in fired
        if each.at_ms < each.instant
    ]
    times = Counter(each.instant for each in fired)
    broken += [f"{instant} was fired {n} times" for instant, n in times.items() if n > 1]
    count, missed, skipped = (int(books.get(key, 0)) for key in ("count", "missed", "skipped"))
    if count != len(fired):
        broken.append(f"{len(fired)} were fired, {count} are counted")
    if books.get("ended") != "end" or "held" in books:
        broken.append(f"it has not ended: {books}")
    # The first instant was found by a look that came before the declaration, by seconds if the
    # network was slow: so many occurrences may be due already when it is written.
    first, grid = min([created_ms, *times]), 0
    following = spec.rule.next_ms(first - 1)
    while following is not None and following <= end_ms:
        grid += 1
        following = spec.rule.next_ms(following)
    if count + missed + skipped < grid:
        broken.append(f"of {grid} occurrences {count} were fired, {missed} + {skipped} dropped")
    return broken
