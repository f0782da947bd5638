"""What the command line says when the server refuses, and how it exits."""

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from tests.support.commands import Ask
from tests.support.private import QUEUE

PASSWORD = "hunter2-of-the-server"  # noqa: S105 - of a server that lives for a moment


@pytest.fixture(autouse=True)
def _own_server(ask: Ask, private_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    _ = ask  # first, since it names the server that all tests share
    monkeypatch.setenv("ECHOMQ_REDIS_URL", private_server.url)


async def test_a_full_server_refuses_a_job_and_nothing_is_changed(ask: Ask, admin: "redis.Redis"):
    await ask("job", "enqueue", "x", "-q", QUEUE)
    admin.config_set("maxmemory", "1")

    answer = await ask("job", "enqueue", "x", "-q", QUEUE)

    assert answer.code == 5
    assert "out of memory" in answer.err
    assert admin.zcard(f"emq:{{{QUEUE}}}:pending") == 1


async def test_a_wrong_password_exits_with_77(
    ask: Ask, admin: "redis.Redis", monkeypatch: pytest.MonkeyPatch
):
    admin.config_set("requirepass", PASSWORD)
    missing = await ask("stats")
    monkeypatch.setenv("ECHOMQ_REDIS_PASSWORD", "a-wrong-password")
    wrong = await ask("stats")
    monkeypatch.setenv("ECHOMQ_REDIS_PASSWORD", PASSWORD)
    right = await ask("stats")

    assert [missing.code, wrong.code, right.code] == [77, 77, 0]
    assert "ECHOMQ_REDIS_PASSWORD" in wrong.err
    assert "a-wrong-password" not in wrong.err


async def test_a_command_that_this_user_may_not_send_exits_with_77(
    ask: Ask, admin: "redis.Redis", monkeypatch: pytest.MonkeyPatch
):
    admin.acl_setuser(
        "reader", enabled=True, passwords=[f"+{PASSWORD}"], keys=["*"], commands=["+get", "+ping"]
    )
    monkeypatch.setenv("ECHOMQ_REDIS_USERNAME", "reader")
    monkeypatch.setenv("ECHOMQ_REDIS_PASSWORD", PASSWORD)
    admin.set("{emq}:version", "echomq:3.0.0")

    answer = await ask("queue", "list")

    assert answer.code == 77
    assert "may not do that" in answer.err


async def test_another_wire_version_exits_with_78(ask: Ask, admin: "redis.Redis"):
    admin.set("{emq}:version", "echomq:4.0.0")

    answer = await ask("job", "enqueue", "x", "-q", QUEUE)

    assert answer.code == 78
    assert "'echomq:4.0.0'" in answer.err
    assert admin.keys() == [b"{emq}:version"]


async def test_a_key_of_another_type_exits_with_5(ask: Ask, admin: "redis.Redis"):
    admin.set(f"emq:{{{QUEUE}}}:pending", "not a queue")

    answer = await ask("job", "enqueue", "x", "-q", QUEUE)

    assert answer.code == 5
    assert f"emq:{{{QUEUE}}}:pending holds a string, expected a zset" in answer.err
    assert "move the foreign key away" in answer.err
