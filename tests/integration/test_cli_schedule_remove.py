"""`echomq schedule remove`: it asks first, and says what comes back by itself."""

from typing import Any

import pytest

from echomq_worker import EchoMQ
from echomq_worker.store import QueueStore
from tests.support.commands import Ask


async def test_removing_asks_first_unless_told_not_to(ask: Ask, app: EchoMQ, queue: QueueStore):
    await app.schedulers.put("digest", "mail.digest", cron="@daily")

    foretold = await ask("schedule", "remove", "digest", "--dry-run")
    refused = await ask("schedule", "remove", "digest")
    assert await queue.schedulers.get("digest") is not None
    done = await ask("schedule", "remove", "digest", "--yes")

    assert foretold.err == f"would be removed: digest in queue {queue.name}\n"
    assert (refused.code, done.code) == (5, 0)
    assert "--yes" in refused.err
    assert done.err == f"removed: digest in queue {queue.name}\n"
    assert await queue.schedulers.get("digest") is None


async def test_on_a_terminal_the_answer_decides(
    ask: Ask, app: EchoMQ, queue: QueueStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("echomq_worker.cli.ask_back.asks_on_terminal", lambda: True)
    await app.schedulers.put("digest", "mail.digest", cron="@daily")

    assert (await ask("schedule", "remove", "digest", given="n\n")).code == 1
    assert await queue.schedulers.get("digest") is not None
    assert (await ask("schedule", "remove", "digest", given="y\n")).code == 0
    assert await queue.schedulers.get("digest") is None


async def test_who_removes_what_the_code_declares_is_told_that_it_comes_back(
    ask: Ask, app: EchoMQ, queue: QueueStore
):
    app.every("1h", name="tidy")(app.job("tidy")(lambda: None))
    (declared,) = app.scheduled
    await queue.schedulers.put(declared.spec, force=False, source="code", tz="")

    answer = await ask("schedule", "remove", "tidy", "-y")

    assert "the next worker that starts puts it back" in answer.err


async def test_what_the_base_wire_repeats_can_be_removed_and_nothing_else(
    ask: Ask, app: EchoMQ, queue: QueueStore
):
    await app.schedulers.register_repeat("peers", "1h", b"x")

    refused = [await ask("schedule", verb, "peers") for verb in ("pause", "resume", "trigger")]
    done = await ask("schedule", "remove", "peers", "-y")

    assert [answer.code for answer in refused] == [5, 5, 5]
    assert "base wire, which cannot be paused" in refused[0].err
    assert done.code == 0
    assert list(await queue.repeats.list()) == []


async def test_whatever_bytes_a_peer_has_chosen_as_a_name_can_be_shown_and_removed(
    ask: Ask, queue: QueueStore, redis_client: Any
):
    name = b"\xff\x1b[31m"
    await redis_client.zadd(queue.keys.repeat, {name: 4_000_000_000_000})
    record = {"every_ms": 1_000, "template": b"\xfe"}
    await redis_client.hset(queue.keys.repeat.encode() + b":" + name, mapping=record)
    typed = name.decode("utf-8", "surrogateescape")

    table = await ask("schedule", "list", "-q", queue.name)
    (row,) = (await ask("schedule", "list", "-q", queue.name, "--json")).records
    (shown,) = (await ask("schedule", "inspect", typed, "--json")).records
    removed = await ask("schedule", "remove", typed, "-y")

    assert "\x1b" not in table.out
    assert (row["name"], shown["name"], shown["every_ms"]) == (typed, typed, 1_000)
    assert removed.code == 0
    assert list(await queue.repeats.list()) == []
