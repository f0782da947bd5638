"""`echomq queue inspect`: what lies in each set, and what its score means."""

from dataclasses import replace

import pytest

from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.readings import Entry, read_entry
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.commands import Ask
from tests.support.jobs import A, B, C, D, E, claim, new_job


async def test_each_set_is_shown_with_what_its_score_means(ask: Ask, queue: QueueStore, line: Line):
    await queue.enqueue([new_job(A)])
    await claim(line)
    ladder = replace(new_job(C), priority=-7)
    await queue.enqueue(
        [
            new_job(B),
            ladder,
            replace(new_job(D), group=lane_group("acme"), lane="acme"),
            new_job(E, after_ms=3_600_000),
        ]
    )

    shown = (await ask("queue", "inspect", queue.name)).out
    (record,) = (await ask("queue", "inspect", queue.name, "--json")).records

    root = f"emq:{{{queue.name}}}:"
    sets = {each["key"].removeprefix(root): each for each in record["sets"]}
    assert {name: each["count"] for name, each in sets.items() if each["count"]} == {
        "schedule": 1,
        "pending": 1,
        "prioritized": 1,
        "active": 1,
    }
    assert sets["prioritized"]["head"] == [{"member": C, "priority": -7, "arrival": 1}]
    assert sets["pending"]["head"][0]["at"] is not None
    assert sets["schedule"]["head"][0]["member"] == E
    assert record["lanes"][0] == {
        "lane": "acme",
        "group": lane_group("acme"),
        "waiting": 1,
        "active": 0,
        "limit": None,
    }
    assert f"{root}prioritized  1" in shown
    assert "a ladder: the score is priority x 2^32 + arrival number" in shown
    assert "priority -7, arrival 1" in shown
    assert "acme  1 waiting, 0 active" in shown
    assert "(in 59m" in shown or "in 1h" in shown or "in 59m" in shown


async def test_an_empty_queue_and_a_paused_one_are_said(ask: Ask, queue: QueueStore):
    assert "is empty" in (await ask("queue", "inspect", queue.name)).err
    await queue.pause()

    assert "is paused" in (await ask("queue", "inspect", queue.name)).err
    assert (await ask("queue", "inspect", queue.name, "--head", "0")).code == 2


@pytest.mark.parametrize(
    ("suffix", "score", "entry"),
    [
        ("prioritized", "-4503599627370496", Entry(A, priority=-(2**20), arrival=0)),
        ("prioritized", "4503603922337791", Entry(A, priority=2**20, arrival=2**32 - 1)),
        ("prioritized", "-4294967295", Entry(A, priority=-1, arrival=1)),
        ("gates", "inf", Entry(A)),
        ("schedule", "1796000000000", Entry(A, 1_796_000_000_000)),
    ],
)
def test_a_score_is_decoded_by_its_set(suffix: str, score: str, entry: Entry):
    assert read_entry(suffix, A, score) == entry
