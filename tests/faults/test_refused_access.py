"""A server that is not there, or will not have us: a named error that says what to do."""

import re
from collections.abc import Callable
from contextlib import closing

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import AccessError, EchoMQError, UnavailableError
from echomq_worker.store import Server, ServerOptions
from echomq_worker.store.extender import BlockingExtender
from tests.support.jobs import LEASE_MS, A, B, claim_one, enqueue, new_job
from tests.support.look import Look
from tests.support.private import QUEUE
from tests.support.stores import no_trouble

PASSWORD = "open sesame"  # noqa: S105 - of a server that lives as long as the test
WRONG = "wrong-and-secret"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("redis://me:secret@127.0.0.1:1/0", "127.0.0.1:1: connection refused. Is it running"),
        ("redis://localhost:1/0", "localhost:1: connection refused. Is it running"),
        ("unix:///nowhere/at/all.sock", "/nowhere/at/all.sock: No such file or directory"),
        ("redis://no-such-host.invalid:6379/0", "no-such-host.invalid:6379: "),
    ],
)
async def test_a_server_that_is_not_there_is_called_unavailable(url: str, told: str):
    at = re.escape(f"cannot connect to the server at {told}")
    server = Server(ServerOptions(url=url, connect_timeout_ms=500, give_up_ms=20))
    with pytest.raises(UnavailableError, match=at) as caught:
        await server.open()
    assert "unknown" not in str(caught.value)
    with pytest.raises(UnavailableError, match=at) as caught:
        await server.queue(QUEUE).enqueue([new_job(A)])
    assert caught.value.ids == (A,)
    assert "went in" not in str(caught.value)
    with pytest.raises(UnavailableError):
        await server.queue(QUEUE).counts()
    await server.aclose()


async def test_who_extends_leases_is_told_that_the_server_is_not_there():
    options = ServerOptions(url="redis://127.0.0.1:1/0", connect_timeout_ms=500)
    with closing(BlockingExtender(options)) as extender, pytest.raises(UnavailableError):
        extender.extend(QUEUE, [], LEASE_MS)


Options = Callable[[str], ServerOptions]
WRONG_OPTIONS: dict[str, Options] = {
    "no password": lambda url: ServerOptions(url=url),
    "a wrong password": lambda url: ServerOptions(url=url, password=WRONG),
    "a wrong user": lambda url: ServerOptions(url=url, username="nobody", password=WRONG),
}


@pytest.mark.parametrize("who", WRONG_OPTIONS)
async def test_a_wrong_password_is_refused_without_being_told(
    private_server: EmbeddedServer, admin: "redis.Redis", who: str
):
    admin.config_set("requirepass", PASSWORD)
    options = WRONG_OPTIONS[who](private_server.url)
    server = Server(options)

    with pytest.raises(AccessError, match="ECHOMQ_REDIS_PASSWORD") as caught:
        await server.open()
    await server.aclose()
    with closing(BlockingExtender(options)) as extender, pytest.raises(AccessError):
        extender.extend(QUEUE, [], LEASE_MS)

    assert WRONG not in str(caught.value)
    assert WRONG not in repr(options)


async def test_a_right_password_opens(private_server: EmbeddedServer, admin: "redis.Redis"):
    admin.config_set("requirepass", PASSWORD)
    async with Server(ServerOptions(url=private_server.url, password=PASSWORD)) as server:
        assert await server.queue(QUEUE).enqueue([new_job(A)]) == ["enqueued"]


async def test_a_user_of_one_queue_may_do_all_there_and_nothing_elsewhere(
    private_server: EmbeddedServer, admin: "redis.Redis", own_look: Look
):
    rules = ["~emq:{own}:*", "~{emq}:*", "+@all", "-@dangerous", "+@connection"]
    admin.execute_command("ACL", "SETUSER", "ann", "on", f">{PASSWORD}", *rules)
    options = ServerOptions(url=private_server.url, username="ann", password=PASSWORD)
    async with Server(options) as server:
        queue = server.queue(QUEUE)
        line = queue.line(trouble=no_trouble, worker_id="w1", watch_ms=9_000)
        await enqueue(queue, A)
        assert (await claim_one(line)).id == A
        await line.beat(
            limit=1, lease_ms=LEASE_MS, promote=9, reap=9, crash_limit=5, max_attempts=10
        )
        before = await own_look.dumps()
        for attempt in (
            server.queue("other").enqueue([new_job(A)]),
            server.queue("other").counts(),
            server.queue("other").wait_hint(bell=True, clock=True, timeout_ms=10),
        ):
            with pytest.raises(AccessError, match="Extend its ACL rule"):
                await attempt
        await line.aclose()

    assert await own_look.dumps() == before
    assert admin.keys("emq:{other}:*") == []


async def test_a_user_who_may_only_read_changes_nothing(
    private_server: EmbeddedServer, admin: "redis.Redis", own_look: Look
):
    async with Server(ServerOptions(url=private_server.url)) as server:
        await enqueue(server.queue(QUEUE), A)
    before = await own_look.dumps()
    rules = ["~*", "+@read", "+@connection", "+@scripting"]
    admin.execute_command("ACL", "SETUSER", "eve", "on", f">{PASSWORD}", *rules)
    options = ServerOptions(url=private_server.url, username="eve", password=PASSWORD)

    async with Server(options) as server:
        queue = server.queue(QUEUE)
        line = queue.line(trouble=no_trouble)
        for attempt in (
            queue.enqueue([new_job(A), new_job(B)]),
            line.claim(limit=1, lease_ms=LEASE_MS, promote=9),
            queue.promote(9),
            queue.pause(),
        ):
            with pytest.raises(EchoMQError, match="Extend its ACL rule"):
                await attempt
        await line.aclose()

    assert await own_look.dumps() == before
