"""Damaged schedulers are found, mended where that is safe, and the healthy ones are left alone."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from echomq_worker.doctor.state import audit, repair
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.scheduling.plan import wake_ms
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.protocol.scheduler_rows import digests, spec_fields
from echomq_worker.store import QueueStore, Server
from tests.support.look import Look

pytestmark = pytest.mark.broken_state("the damage is what is tested")
NEXT_MS = 3_000_000_000_000
STANDS = {"quarantine"}
Commands = Sequence[tuple[str | float, ...]]


def spec_of(name: str, jitter: Duration | None = None) -> SchedulerSpec:
    template = Template(
        name="report",
        payload=b"{}",
        max_attempts=None,
        keep_result_ms=None,
        timeout_ms=None,
        ttl_ms=None,
        backoff=None,
    )
    return scheduler_spec(
        name, template=template, cron="0 9 * * *", tz="Europe/Berlin", jitter=jitter
    )


async def stored(look: Look, name: str, *, jitter: Duration | None = None, **books: str) -> None:
    """Let a healthy scheduler be there; `books` are fields of its bookkeeping."""
    spec = spec_of(name, jitter)
    digest, rule_digest = digests(spec)
    fields = {
        **spec_fields(spec),
        "digest": digest,
        "rule_digest": rule_digest,
        "next": str(NEXT_MS),
        **books,
    }
    rests = "paused" in books or fields["next"] == ""
    await look.do(
        "HSET",
        f"{look.keys.root}scheduler:{name}",
        *(word for pair in fields.items() for word in pair),
    )
    wake = "+inf" if rests else wake_ms(spec, NEXT_MS)
    await look.do("ZADD", f"{look.keys.root}schedulers", wake, name)


@dataclass(frozen=True)
class Damage:
    """How a scheduler `s` is damaged, and what is then found; `@` stands for the queue's root."""

    found: str
    commands: Commands
    wakes: str | None = str(NEXT_MS)
    """When it wakes once it is mended; '' if it is out of the index, None if nothing is mended."""


DAMAGES = [
    Damage("scheduler-without-definition", [("DEL", "@scheduler:s")], wakes=""),
    Damage("scheduler-without-time", [("ZREM", "@schedulers", "s")]),
    Damage(
        "scheduler-without-time",
        [("ZREM", "@schedulers", "s"), ("HSET", "@scheduler:s", "paused", "why")],
        wakes="inf",
    ),
    Damage(
        "scheduler-without-time",
        [("ZREM", "@schedulers", "s"), ("HSET", "@scheduler:s", "next", "", "ended", "limit")],
        wakes="inf",
    ),
    Damage("scheduler-asleep", [("ZADD", "@schedulers", "+inf", "s")]),
    Damage("scheduler-wrong-time", [("ZADD", "@schedulers", NEXT_MS - 1, "s")]),
    Damage("scheduler-wrong-time", [("ZADD", "@schedulers", NEXT_MS + 1, "s")]),
    Damage("scheduler-wrong-time", [("HSET", "@scheduler:s", "paused", "why")], wakes="inf"),
    Damage(
        "scheduler-wrong-time",
        [("HSET", "@scheduler:s", "next", "", "ended", "end")],
        wakes="inf",
    ),
    Damage("scheduler-unreadable", [("HSET", "@scheduler:s", "cron", "61 * * * *")], wakes=None),
    Damage("scheduler-unreadable", [("HSET", "@scheduler:s", "every", 60_000)], wakes=None),
    Damage("scheduler-unreadable", [("HDEL", "@scheduler:s", "cron")], wakes=None),
    Damage("scheduler-unreadable", [("HSET", "@scheduler:s", "next", "soon")], wakes=None),
    Damage("scheduler-unreadable", [("HDEL", "@scheduler:s", "next")], wakes=None),
    Damage("scheduler-unreadable", [("HDEL", "@scheduler:s", "digest")], wakes=None),
    Damage("scheduler-zone", [("HSET", "@scheduler:s", "zone", "Mars/Base")], wakes=None),
    Damage("wrong-type", [("DEL", "@scheduler:s"), ("SET", "@scheduler:s", "x")], wakes=None),
    Damage("expiring-key", [("PEXPIRE", "@scheduler:s", 60_000)]),
    Damage(
        "not-fired", [("ZADD", "@schedulers", 1, "s"), ("HSET", "@scheduler:s", "next", 1)], None
    ),
]


async def _found(server: Server, queue: QueueStore) -> set[str]:
    return {finding.check for finding in await audit(server, queue.name)}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.found)
async def test_a_damage_is_found_and_mended_and_the_others_are_untouched(
    damage: Damage, queue: QueueStore, server: Server, look: Look
):
    for name in ("s", "other"):
        await stored(look, name)
    assert await _found(server, queue) == set()
    other = await look.do("DUMP", f"{look.keys.root}scheduler:other")
    for words in damage.commands:
        await look.do(*(str(word).replace("@", look.keys.root) for word in words))
    definition = await look.do("EXISTS", f"{look.keys.root}scheduler:s")

    assert await _found(server, queue) == {damage.found}
    done = await repair(server, queue.name, await audit(server, queue.name))

    mended = damage.wakes is not None
    assert [each.check for each in done] == ([damage.found] if mended else [])
    assert await _found(server, queue) - STANDS == (set[str]() if mended else {damage.found})
    if mended:
        wakes = await look.do("ZSCORE", f"{look.keys.root}schedulers", "s")
        assert (wakes or b"").decode() == damage.wakes
    assert await look.do("EXISTS", f"{look.keys.root}scheduler:s") == definition
    assert await look.do("DUMP", f"{look.keys.root}scheduler:other") == other
    again = await repair(server, queue.name, await audit(server, queue.name))
    assert again == []


async def test_healthy_schedulers_of_every_kind_are_left_alone(
    queue: QueueStore, server: Server, look: Look
):
    await stored(look, "plain")
    await stored(look, "jittered", jitter="1h")
    await stored(look, "paused", paused="why", paused_at="1", paused_by="me")
    await stored(look, "paused-and-held", paused="why", held="5")
    await stored(look, "ended", next="", ended="limit")
    await stored(look, "busy", overlap="skip", live="JOB00000000001 JOB00000000002", runs="5")
    await stored(look, "held", overlap="queue-one", held="5")
    await stored(look, "held-and-ended", overlap="queue-one", held="5", next="", ended="end")
    now_ms = await look.now_us() // 1_000
    for name in ("held", "held-and-ended"):
        await look.do("ZADD", f"{look.keys.root}schedulers", now_ms, name)

    assert await audit(server, queue.name) == []


@pytest.mark.parametrize("seed", range(10))
async def test_random_damage_is_mended_and_no_definition_is_lost(
    seed: int, queue: QueueStore, server: Server, look: Look
):
    dice = random.Random(seed)
    root = look.keys.root
    names = [f"s{number}" for number in range(20)]
    for name in names:
        await stored(look, name, jitter=dice.choice((None, "1h")))
        await queue.repeats.register(name, 60_000, b"x", first_in_ms=60_000)
    for _ in range(40):
        name, kept = dice.choice(names), dice.choice(names[10:])
        score = dice.choice(("+inf", NEXT_MS - 1, NEXT_MS, NEXT_MS + 9_000_000))
        damages: list[tuple[str | int, ...]] = [
            ("ZREM", f"{root}schedulers", name),
            ("ZADD", f"{root}schedulers", score, f"s{dice.randrange(40)}"),
            ("HSET", f"{root}scheduler:{name}", "paused", "why"),
            ("HSET", f"{root}scheduler:{name}", "next", ""),
            ("HSET", f"{root}scheduler:{name}", "held", "5"),
            ("HDEL", f"{root}scheduler:{name}", "paused"),
            ("DEL", f"{root}scheduler:{kept}"),
            ("ZREM", f"{root}repeat", name),
            ("DEL", f"{root}repeat:{kept}"),
        ]
        await look.do(*dice.choice(damages))
    keys = [*(f"{root}scheduler:{name}" for name in names), *(f"{root}repeat:{n}" for n in names)]
    before = [await look.do("DUMP", key) for key in keys]

    await repair(server, queue.name, await audit(server, queue.name))

    assert [await look.do("DUMP", key) for key in keys] == before
    assert [each for each in await audit(server, queue.name) if each.repair] == []


async def test_thousands_of_schedulers_are_all_looked_at(
    queue: QueueStore, server: Server, look: Look
):
    index = f"{look.keys.root}schedulers"
    await look.do("ZADD", index, *(word for n in range(3_000) for word in (n + NEXT_MS, f"s{n}")))

    found = await audit(server, queue.name)

    missing = {each.check for each in found}
    assert missing == {"scheduler-without-definition"}
    assert len(found) == 1_001
    assert found[-1].text == "2000 more of scheduler-without-definition"
    assert len(await repair(server, queue.name, found)) == 3_000
    assert not await look.do("EXISTS", index)


async def test_time_zone_data_that_differ_among_workers_are_told(
    queue: QueueStore, server: Server, look: Look
):
    async def lives(worker: str, version: str | None) -> None:
        await look.do("ZADD", look.keys.workers, 1, worker)
        fields = ("beat", "1") if version is None else ("beat", "1", "tz", version)
        await look.do("HSET", look.keys.worker(worker), *fields)
        await look.do("PEXPIRE", look.keys.worker(worker), 60_000)

    await lives("a", "2025b")
    await lives("b", "2025b")
    await lives("of-an-older-release", None)
    assert await _found(server, queue) == set()

    await lives("c", "2026a")
    (finding,) = await audit(server, queue.name)
    assert finding.check == "zone-data"
    assert "2025b, 2026a" in finding.text
