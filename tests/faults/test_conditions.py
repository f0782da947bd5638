"""Conditions in which a server refuses to work: what they become here, and that they pass."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import pytest
import redis
from structlog.testing import capture_logs

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import EchoMQError
from echomq_worker.store import Server, ServerOptions
from echomq_worker.store.conditions import CONDITIONS, Condition, Reaction
from echomq_worker.worker import supervisor
from tests.support.grumpy import Grumpy, calls_of
from tests.support.jobs import A, B, new_job
from tests.support.private import QUEUE, cut_all_connections
from tests.support.shop import Shop, until

AGAIN_S = 2.0
"""How soon a worker consumes again once the server takes its calls."""
SAID = {"MAXCLIENTS": "ERR max number of clients reached", "MOVED": "MOVED 3999 127.0.0.1:1"}
BY_CODE = {condition.code: condition for condition in CONDITIONS}
PASSING = [one for one in CONDITIONS if one.reaction in {Reaction.WAIT, Reaction.RECONNECT}]
GIVEN_UP = [one for one in CONDITIONS if one.reaction is Reaction.GIVE_UP]
AWAY = {"server.away", "server.back"}
FULL = {"server.full", "server.has_room"}
SCRIPTS = calls_of("enqueue", "claim", "beat", "settle")
Do = Callable[["redis.Redis"], object]


def said(condition: Condition) -> str:
    """Return how a server tells of a condition."""
    return SAID.get(condition.code, f"{condition.code} for a test")


def events(logs: Sequence[Mapping[str, object]]) -> set[object]:
    """Return what has been logged."""
    return {line["event"] for line in logs}


def exit_code(logs: Sequence[Mapping[str, object]]) -> object:
    """Return what a worker has ended with."""
    return next(line["exit_code"] for line in logs if line["event"] == "worker.stopped")


@pytest.mark.parametrize("code", [one.code for one in CONDITIONS if one.error])
async def test_each_becomes_the_error_of_the_table_and_passes(grumpy: Grumpy, code: str):
    condition = BY_CODE[code]
    assert condition.error is not None
    options = ServerOptions(url=grumpy.url, client_name="t", give_up_ms=50)
    async with Server(options) as server:
        queue = server.queue(QUEUE)
        await queue.enqueue([new_job(A)])
        grumpy.refuse(said(condition))
        with pytest.raises(EchoMQError) as caught:
            await queue.enqueue([new_job(B)])
        assert type(caught.value).__mro__.index(condition.error) <= 1
        grumpy.relent()
        assert await queue.enqueue([new_job(B)]) == ["enqueued"]
        assert (await queue.counts()).pending == 2


@pytest.mark.parametrize("code", [one.code for one in PASSING] + ["OOM"])
async def test_a_worker_waits_until_it_has_passed(shop: Shop, grumpy: Grumpy, code: str):
    async with shop.worker(grumpy.url):
        await shop.add()
        await shop.completed()
        with capture_logs() as logs:
            grumpy.refuse(said(BY_CODE[code]))
            await shop.add(3)
            await asyncio.sleep(0.3)
            assert shop.runs.total() == 1
            asked = len(grumpy.heard)
            await asyncio.sleep(0.5)  # the longest wait
            assert asked < len(grumpy.heard) < asked + 40  # it asks, and not all the time
            grumpy.relent()
            assert await shop.completed() < AGAIN_S
        told = (
            {"server.full", "server.has_room"} if code == "OOM" else {"server.away", "server.back"}
        )
        assert told <= events(logs)
    assert await shop.ran_once()


@pytest.mark.parametrize("code", [one.code for one in GIVEN_UP] + ["MOVED"])
async def test_a_worker_that_is_denied_tries_a_few_times_and_ends(
    shop: Shop, grumpy: Grumpy, monkeypatch: pytest.MonkeyPatch, code: str
):
    monkeypatch.setattr(supervisor, "FIRST_WAIT_MS", 10)
    with capture_logs() as logs, suppress(EchoMQError):
        async with shop.worker(grumpy.url):
            grumpy.refuse(said(BY_CODE[code]), SCRIPTS)
            await until(lambda: "worker.stopped" in events(logs))
    assert exit_code(logs) == (1 if code == "MOVED" else 77)
    tried = [words for _, words in grumpy.heard if SCRIPTS("", words)]
    assert len(tried) < 60


def take_rights(admin: "redis.Redis") -> None:
    admin.execute_command("ACL", "SETUSER", "ann", "-evalsha", "-eval")


def take_password(admin: "redis.Redis") -> None:
    admin.execute_command("ACL", "SETUSER", "ann", "resetpass", ">another")
    cut_all_connections(admin)


@pytest.mark.parametrize("take", [take_rights, take_password])
async def test_a_worker_whose_user_loses_its_rights_ends_with_77(
    shop: Shop,
    private_server: EmbeddedServer,
    admin: "redis.Redis",
    monkeypatch: pytest.MonkeyPatch,
    take: Do,
):
    monkeypatch.setattr(supervisor, "FIRST_WAIT_MS", 10)
    admin.execute_command("ACL", "SETUSER", "ann", "on", ">secret", "~*", "&*", "+@all")
    url = private_server.url.replace("unix://", "unix://ann:secret@")
    with capture_logs() as logs, suppress(EchoMQError):
        async with shop.worker(url):
            await shop.add()
            await shop.completed()
            take(admin)
            await until(lambda: "worker.stopped" in events(logs))
    assert exit_code(logs) == 77


def no_primary(admin: "redis.Redis") -> None:
    admin.config_set("replica-serve-stale-data", "no")
    admin.replicaof("127.0.0.1", "1")


def primary_again(admin: "redis.Redis") -> None:
    admin.replicaof("NO", "ONE")


def no_more_clients(admin: "redis.Redis") -> None:
    admin.config_set("maxclients", 1)
    cut_all_connections(admin)


TROUBLES: dict[str, tuple[Do, Do]] = {
    "READONLY": (lambda admin: admin.replicaof("127.0.0.1", "1"), primary_again),
    "MASTERDOWN": (no_primary, primary_again),
    "NOREPLICAS": (
        lambda admin: admin.config_set("min-replicas-to-write", 1),
        lambda admin: admin.config_set("min-replicas-to-write", 0),
    ),
    "MAXCLIENTS": (no_more_clients, lambda admin: admin.config_set("maxclients", 1_000)),
}


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_real_server_in_trouble_is_waited_for(
    shop: Shop, private_server: EmbeddedServer, admin: "redis.Redis", trouble: str
):
    begin, end = TROUBLES[trouble]
    async with shop.worker(private_server.url):
        await shop.add()
        await shop.completed()
        await shop.add(5, after="300ms")
        with capture_logs() as logs:
            begin(admin)
            await asyncio.sleep(0.7)
            assert shop.runs.total() == 1
            end(admin)
            assert await shop.completed() < AGAIN_S
            await shop.add()
            assert await shop.completed() < AGAIN_S
        assert events(logs) >= AWAY
    assert await shop.ran_once()


async def test_a_queue_with_a_foreign_key_does_not_stop_the_others(
    shop: Shop, grumpy: Grumpy, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(supervisor, "FIRST_WAIT_MS", 10)
    grumpy.refuse(said(BY_CODE["WRONGTYPE"]), lambda _use, words: b"{broken}" in b"".join(words))
    async with shop.worker(grumpy.url, queues=("broken", QUEUE)):
        for _ in range(3):
            await shop.add(5)
            assert await shop.completed() < AGAIN_S
            await asyncio.sleep(0.3)
    assert await shop.ran_once()


async def test_an_emptied_server_gets_back_what_workers_need(
    shop: Shop, private_server: EmbeddedServer, admin: "redis.Redis"
):
    async with shop.worker(private_server.url):
        await shop.add()
        await shop.completed()
        lasting = ["{emq}:version", "emq:{own}:meta"]
        assert admin.exists(*lasting) == 2
        with capture_logs() as logs:
            admin.flushall()
            await until(lambda: admin.exists(*lasting) == 2)
            await until(lambda: bool(admin.keys("emq:{own}:worker*")))
        assert "server.emptied" in events(logs)
        shop.runs.clear()
        shop.added = 0
        await shop.add(3)
        await shop.completed()
    assert await shop.ran_once()
