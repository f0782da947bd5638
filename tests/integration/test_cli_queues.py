"""`echomq stats` and `echomq queue`: how the queues are, and stopping and starting them."""

import asyncio
from collections.abc import Callable

import pytest

from echomq_worker.domain.outcome import Buried, Completed
from echomq_worker.store import QueueStore, Server
from tests.support.commands import Ask
from tests.support.jobs import A, B, C, D, claim, claim_one, enqueue, new_job, settle
from tests.support.look import Look
from tests.support.stores import NewLine


async def test_stats_counts_the_jobs_of_a_queue(ask: Ask, queue: QueueStore, new_line: NewLine):
    await enqueue(queue, A, B, C)
    await queue.enqueue([new_job(D, after_ms=60_000)])
    line = new_line()
    await settle(line, await claim_one(line), Buried("no good"))
    await claim_one(line)

    (record,) = (await ask("stats", queue.name, "--json")).records

    counted = {key: record[key] for key in ("pending", "active", "scheduled", "dead", "died")}
    assert counted == {"pending": 1, "active": 1, "scheduled": 1, "dead": 1, "died": 1}
    assert record["oldest_pending_ms"] > 0
    assert record["state"] == "! no workers"


async def test_stats_is_a_table_for_people_and_names_the_server(ask: Ask, queue: QueueStore):
    await enqueue(queue, A)

    answer = await ask("stats", queue.name)

    head, row = answer.out.splitlines()
    assert head.split()[:4] == ["QUEUE", "PENDING", "LANES", "ACTIVE"]
    assert row.split()[:4] == [queue.name, "1", "0", "0"]
    assert "policy noeviction" in answer.err


async def test_stats_without_names_shows_every_queue(
    ask: Ask, server: Server, new_queue_name: Callable[[], str]
):
    names = [new_queue_name(), new_queue_name()]
    for name in names:
        await enqueue(server.queue(name), A)

    shown = [record["queue"] for record in (await ask("stats", "--json")).records]

    assert shown == sorted(["default", *names])


async def test_a_queue_that_is_not_there_gets_near_misses(ask: Ask, queue: QueueStore):
    await enqueue(queue, A)

    answers = [
        await ask(*words, queue.name + "x")
        for words in (("stats",), ("queue", "pause"), ("queue", "resume"), ("dead", "list", "-q"))
    ]

    assert [answer.code for answer in answers] == [3, 3, 3, 3]
    assert all(f"Did you mean {queue.name}?" in answer.err for answer in answers)


async def test_watching_shows_it_again_and_again(
    ask: Ask, queue: QueueStore, monkeypatch: pytest.MonkeyPatch
):
    await enqueue(queue, A)
    real_sleep = asyncio.sleep
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        await real_sleep(0)
        waits.append(seconds)
        if len(waits) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("echomq_worker.cli.stats.asyncio.sleep", sleep)

    answer = await ask("stats", queue.name, "--watch", "0.5s", "--json")

    assert len(answer.records) == 3
    assert waits == [0.5, 0.5, 0.5]
    assert answer.code == 130


async def test_a_paused_queue_says_since_when_why_and_by_whom(ask: Ask, queue: QueueStore):
    await enqueue(queue, A)

    answer = await ask("queue", "pause", queue.name, "--reason", "database upgrade")

    records = {record["queue"]: record for record in (await ask("queue", "list", "--json")).records}
    assert answer.code == 0
    assert records[queue.name]["state"] == "paused"
    assert records[queue.name]["reason"] == "database upgrade"
    assert "@" in records[queue.name]["by"]
    assert records[queue.name]["paused_at"].endswith("Z")


async def test_a_paused_queue_hands_out_nothing_until_it_is_resumed(
    ask: Ask, queue: QueueStore, new_line: NewLine
):
    await enqueue(queue, A)
    line = new_line()

    await ask("queue", "pause", queue.name)
    assert not await claim(line)
    answer = await ask("queue", "resume", queue.name, "--json")

    assert answer.records == [{"queue": queue.name, "state": "running"}]
    assert len(await claim(line)) == 1


async def test_an_unreachable_server_exits_with_69_and_says_where_it_looked(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ECHOMQ_REDIS_URL", "redis://:hunter22@127.0.0.1:1/0")

    answer = await ask("stats")

    assert answer.code == 69
    assert answer.err.startswith("error: ")
    assert "hunter22" not in answer.err


@pytest.mark.broken_state("a malformed member waits")
@pytest.mark.parametrize("member", ["!", b"\x00\xff"])
async def test_stats_of_a_queue_with_a_malformed_member_says_nothing_of_the_oldest(
    ask: Ask, queue: QueueStore, look: Look, member: str | bytes
):
    await enqueue(queue, A)
    await look.do("ZADD", look.keys.pending, 0, member)

    (record,) = (await ask("stats", queue.name, "--json")).records
    table = await ask("stats", queue.name)

    assert (record["pending"], record["oldest"], record["oldest_pending_ms"]) == (2, None, None)
    assert (table.code, table.out.splitlines()[1].split()[7]) == (0, "-")


async def test_a_queue_that_is_named_is_asked_for_and_the_server_not_looked_through(
    ask: Ask, queue: QueueStore, new_line: NewLine, monkeypatch: pytest.MonkeyPatch
):
    async def scan(_server: Server) -> list[str]:
        message = "the whole server is looked through"
        raise AssertionError(message)

    line = new_line()
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Completed())  # counts are all that is left
    monkeypatch.setattr(Server, "queue_names", scan)

    answers = [
        await ask(*words, name)
        for name in (queue.name, "default")
        for words in (("stats",), ("dead", "list", "-q"), ("queue", "pause"), ("queue", "resume"))
    ]

    assert [answer.code for answer in answers] == [0] * 8, answers
