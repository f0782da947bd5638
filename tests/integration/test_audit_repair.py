"""Damage is made by hand; the audit finds just that, a repair mends it, and nothing is lost."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from echomq_worker.doctor.state import audit, repair
from echomq_worker.store import QueueStore, Server
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, claim, enqueue, new_job
from tests.support.look import Look

pytestmark = pytest.mark.broken_state("the damage is what is tested")
LANE, OTHER = "LAN00000000001", "LAN00000000002"
Commands = Sequence[tuple[str | float, ...]]


@dataclass(frozen=True)
class Damage:
    """How a healthy queue is damaged, and what is then found; `@` stands for the queue's root."""

    found: str
    commands: Commands
    mended: bool = True
    also: tuple[str, ...] = ()


PRIORITY: Commands = [
    ("HSET", f"@job:{id_}", "priority", 3, "arrival", 7, "more", 1) for id_ in (A, B)
]
RANKED: Commands = [
    *PRIORITY,
    ("ZREM", "@pending", B),
    ("ZADD", "@prioritized", 3 * 2**32 + 7, B),
]

# The queue has A under a lease and B in `pending`, each with a row.
DAMAGES = [
    Damage("orphan-row", [("ZREM", "@pending", B)]),
    Damage("orphan-row", [("ZREM", "@active", A)]),
    Damage("orphan-row", [("ZREM", "@pending", B), ("HSET", f"@job:{B}", "state", "dead")]),
    Damage("orphan-row", [("HSET", f"@job:{C}", "lock", "1")]),
    *(
        Damage("member-without-row", [("ZADD", f"@{place}", score, C)])
        for place, score in (
            ("pending", 0),
            ("active", 9e12),
            ("schedule", 9e12),
            ("dead", 0),
            ("dead:at", 1),
        )
    ),
    Damage("member-without-row", [("ZADD", "@pending", 0, "no id \n")]),
    Damage("member-without-row", [("DEL", f"@job:{A}")]),
    Damage("member-without-row", [("ZADD", f"@g:{LANE}:pending", 0, C), ("RPUSH", "@ring", LANE)]),
    Damage(
        "parent-not-released",
        [
            ("HSET", f"@job:{C}", "state", "awaiting_children", "attempts", 0, "payload", C),
            ("SET", f"@job:{C}:dependencies", 0),
        ],
        also=("parent-without-children",),
    ),
    Damage(
        "parent-without-count",
        [("HSET", f"@job:{C}", "state", "awaiting_children", "attempts", 0, "payload", C)],
        mended=False,
        also=("parent-without-children",),
    ),
    Damage("two-places", [("ZADD", "@active", "9e12", B)]),
    Damage("two-places", [("ZADD", "@pending", 0, A)]),
    Damage("wrong-state", [("HSET", f"@job:{B}", "state", "active")]),
    Damage(
        "wrong-lane",
        [
            ("ZREM", "@pending", B),
            ("HSET", f"@job:{B}", "group", LANE),
            ("ZADD", f"@g:{OTHER}:pending", 0, B),
            ("RPUSH", "@ring", OTHER),
        ],
    ),
    Damage("bad-row", [("HSET", f"@job:{B}", "attempts", "x")]),
    Damage("bad-row", [("HDEL", f"@job:{B}", "payload")]),
    Damage("too-many-attempts", [("HSET", f"@job:{B}", "attempts", 3, "max", 2)], mended=False),
    Damage("wrong-score", [("ZADD", "@pending", 5, B)]),
    Damage("orphan-row", [("ZREM", "@pending", B), *PRIORITY]),
    Damage("member-without-row", [("ZADD", "@prioritized", 5, C)]),
    Damage("two-places", [("ZADD", "@prioritized", 3 * 2**32 + 7, B), *PRIORITY]),
    Damage("two-places", [("ZADD", "@prioritized", 3 * 2**32 + 7, A), *PRIORITY]),
    Damage("wrong-rank", [*RANKED, ("ZADD", "@prioritized", 5, B)]),
    Damage("wrong-rank", [*RANKED, ("HDEL", f"@job:{B}", "arrival")]),
    Damage("wrong-rank", [*RANKED, ("HSET", f"@job:{B}", "arrival", 2**32)]),
    Damage("wrong-rank", [*RANKED, ("HDEL", f"@job:{B}", "priority")]),
    Damage("wrong-rank", [*RANKED, ("HSET", f"@job:{B}", "priority", "1e3")]),
    Damage("wrong-rank", [*RANKED, ("HSET", f"@job:{B}", "priority", 2**20 + 1)]),
    Damage("wrong-rank", [*RANKED, ("HSET", f"@job:{B}", "group", LANE)]),
    Damage("wrong-state", [*RANKED, ("HSET", f"@job:{B}", "state", "active")]),
    Damage("endless-lease", [("ZADD", "@active", "inf", A)]),
    Damage("far-lease", [("ZADD", "@active", "9e12", A)], mended=False),
    Damage(
        "endless-wait",
        [
            ("ZREM", "@pending", B),
            ("ZADD", "@schedule", "inf", B),
            ("HSET", f"@job:{B}", "state", "scheduled"),
        ],
        mended=False,
    ),
    Damage("dead-index", [("ZADD", "@dead:at", 1, B)]),
    Damage(
        "dead-index",
        [
            ("ZREM", "@pending", B),
            ("ZADD", "@dead", 0, B),
            ("HSET", f"@job:{B}", "state", "dead"),
        ],
    ),
    Damage("expiring-row", [("PEXPIRE", f"@job:{B}", 60_000)]),
    Damage("wrong-type", [("SET", f"@job:{C}", "x")], mended=False),
    Damage("wrong-type", [("SET", "@dead", "x")], mended=False),
    Damage("no-expiry", [("SET", "@call:x", "1 ")]),
    Damage("no-expiry", [("SET", "@pump", "w")]),
    Damage("no-expiry", [("HSET", "@worker:w", "beat", 1)]),
    Damage("no-expiry", [("HSET", f"@done:{C}", "result", 1)]),
    Damage("expiring-key", [("PEXPIRE", "@pending", 60_000)]),
    Damage("dedup-of-the-gone", [("SET", "@de:once", C)]),
    Damage("part-without-row", [("RPUSH", f"@job:{C}:logs", "x")]),
    Damage("unknown-key", [("SET", "@surprise", "x")], mended=False),
    Damage("lane-count", [("HSET", "@gactive", LANE, 2)]),
    Damage("lane-count", [("HSET", f"@job:{A}", "group", LANE)]),
    Damage("cap-count", [("HSET", "@busy", "cap:name:mail", 2)]),
    Damage(
        "cap-count",
        [("HSET", "@busy", "cap:name:mail", 2), ("HSET", f"@job:{A}", "slots", "cap:name:mail")],
    ),
    Damage(
        "cap-count",
        [
            ("HSET", "@limits", "cap:name:mail", 5),
            ("HSET", f"@job:{A}", "slots", "cap:name:mail"),
        ],
    ),
    Damage(
        "lane-not-served",
        [
            ("ZREM", "@pending", B),
            ("HSET", f"@job:{B}", "group", LANE),
            ("ZADD", f"@g:{LANE}:pending", 0, B),
        ],
    ),
    Damage("repeat-without-record", [("ZADD", "@repeat", "9e12", "daily")]),
    Damage("repeat-without-time", [("HSET", "@repeat:daily", "every_ms", 5, "template", "x")]),
    Damage(
        "repeat-incomplete",
        [("HSET", "@repeat:daily", "every_ms", 5), ("ZADD", "@repeat", "9e12", "daily")],
        mended=False,
    ),
    Damage(
        "repeat-not-fired",
        [
            ("HSET", "@repeat:daily", "every_ms", 5, "template", "x"),
            ("ZADD", "@repeat", 1, "daily"),
        ],
        mended=False,
    ),
    Damage("outbox-blocked", [("RPUSH", "@flow:outbox", "x")], mended=False, also=("outbox",)),
    Damage("lease-not-reaped", [("ZADD", "@active", 1, A)], mended=False),
    Damage(
        "due-not-promoted",
        [
            ("ZREM", "@pending", B),
            ("ZADD", "@schedule", 1, B),
            ("HSET", f"@job:{B}", "state", "scheduled"),
        ],
        mended=False,
    ),
    Damage("quarantine", [("XADD", "@quarantine", "*", "reason", "x")], mended=False),
]
STANDS = {"no-worker", "quarantine", "far-lease"}


@pytest.fixture
async def healthy(queue: QueueStore, line: Line) -> QueueStore:
    await enqueue(queue, A)
    await claim(line)
    await queue.enqueue([new_job(B, max_attempts=5)])
    return queue


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.found)
async def test_a_damage_is_found_and_mended_and_nothing_is_lost(
    damage: Damage, healthy: QueueStore, server: Server, look: Look
):
    assert await _found(server, healthy) - STANDS == set()
    for words in damage.commands:
        await look.do(*(str(word).replace("@", look.keys.root) for word in words))
    broken = await _found(server, healthy)
    after_damage = await _payloads(look)
    done = await repair(server, healthy.name, await audit(server, healthy.name))

    assert damage.found in broken
    allowed = {damage.found, *damage.also} | (STANDS - {damage.found})
    assert broken <= allowed
    left = await audit(server, healthy.name)
    assert [finding for finding in left if finding.repair] == []
    assert {each.check for each in left} - {damage.found, *damage.also} <= STANDS
    assert any(each.check == damage.found for each in done) == damage.mended
    assert (damage.found in {each.check for each in left}) == (not damage.mended)
    assert await _payloads(look) == after_damage
    assert await repair(server, healthy.name, left) == []
    await look.do("DEL", f"{look.keys.root}surprise")


async def _found(server: Server, queue: QueueStore) -> set[str]:
    return {finding.check for finding in await audit(server, queue.name)}


async def _payloads(look: Look) -> dict[str, str]:
    everything = await look.everything()
    return {
        key: row["payload"]
        for key, row in everything.items()
        if key.startswith("job:") and isinstance(row, dict) and "payload" in row
    }
