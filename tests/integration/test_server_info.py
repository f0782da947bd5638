"""What a server says about itself, and which queues are on it."""

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import InvalidQueueError
from echomq_worker.store import Server, ServerOptions
from echomq_worker.store.server import location
from tests.support.jobs import A, enqueue


async def test_a_server_tells_what_it_is(private_server: EmbeddedServer):
    async with Server(ServerOptions(url=private_server.url)) as server:
        info = await server.describe()

    assert info.name in {"valkey", "redis"}
    assert info.version.split(".")[0].isdigit()
    assert (info.memory_policy, info.evicts) == ("noeviction", False)
    assert abs(info.clock_offset_ms) < 1_000
    assert info.location.startswith("unix:///")


async def test_a_server_that_may_drop_keys_is_found_out(
    private_server: EmbeddedServer, admin: "redis.Redis"
):
    admin.config_set("maxmemory-policy", "allkeys-lru")
    async with Server(ServerOptions(url=private_server.url)) as server:
        assert (await server.describe()).evicts


async def test_what_may_be_dropped_is_known_of_a_server_that_hides_its_settings(
    private_server: EmbeddedServer, admin: "redis.Redis"
):
    admin.config_set("maxmemory-policy", "allkeys-lru")
    admin.execute_command("ACL", "SETUSER", "ann", "on", "nopass", "~*", "+@all", "-config")
    options = ServerOptions(url=private_server.url, username="ann", password="x")  # noqa: S106
    async with Server(options) as server:
        info = await server.describe()
        facts = await server.facts()

    assert (info.memory_policy, info.evicts) == ("allkeys-lru", True)
    assert facts.config is None


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("redis://bob:secret@host:7000/3?x=secret", "redis://host:7000/3"),
        ("rediss://:secret@host", "rediss://host"),
        ("redis://[::1]:6379/0", "redis://[::1]:6379/0"),
        ("unix://bob:secret@/run/s.sock?db=1&password=secret", "unix:///run/s.sock"),
    ],
)
def test_where_a_server_is_can_be_told_without_secrets(url: str, told: str):
    assert location(url) == told


async def test_the_queues_on_a_server_are_found_by_their_keys(
    private_server: EmbeddedServer, admin: "redis.Redis"
):
    admin.set("other", "x")
    admin.set("emq:{", "x")
    async with Server(ServerOptions(url=private_server.url)) as server:
        for name in ("mail", "reports.eu"):
            await enqueue(server.queue(name), A)

        assert await server.queue_names() == ["mail", "reports.eu"]


async def test_many_keys_are_looked_through(private_server: EmbeddedServer, admin: "redis.Redis"):
    with admin.pipeline() as pipe:
        for number in range(3_000):
            pipe.set(f"x{number}", number)
        pipe.set("emq:{last}:meta", "x")
        pipe.execute()
    async with Server(ServerOptions(url=private_server.url)) as server:
        assert await server.queue_names() == ["last"]


async def test_a_queue_of_a_server_is_always_the_same(server: Server, queue_name: str):
    assert server.queue(queue_name) is server.queue(queue_name)
    for bad in ("", "emq", "a b", "x" * 129, "a{b}"):
        with pytest.raises(InvalidQueueError):
            server.queue(bad)


def test_no_repr_of_options_shows_a_secret():
    options = ServerOptions(
        url="redis://bob:sesame@host/0",
        password="sesame",  # noqa: S106
        tls_key_path="/etc/sesame.key",
    )

    assert "sesame" not in repr(options)
