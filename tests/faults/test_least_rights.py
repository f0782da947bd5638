"""A user that may do only what the doctor grants: all of ours works, and nothing else does."""

from collections.abc import Generator
from contextlib import suppress

import pytest
import redis
from redis.exceptions import NoPermissionError

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import AccessError
from echomq_worker.store import Server, ServerOptions
from echomq_worker.store.rights import Missing, Needs, Role
from tests.support.private import QUEUE

USER, PASSWORD = "ann", "open-sesame"  # of a server that lives as long as the test
KEY = f"emq:{{{QUEUE}}}:meta"
FOREIGN = "emq:{other}:meta"


def needs_of(admin: "redis.Redis", role: Role = Role.WORKER) -> Needs:
    info: dict[str, str] = admin.info("server")
    name = "valkey" if "valkey_version" in info else "redis"
    version = info.get("valkey_version") or info["redis_version"]
    return Needs(role=role, queues=(QUEUE,), server=name, version=version)


def rule(admin: "redis.Redis", *words: str) -> None:
    admin.execute_command("ACL", "SETUSER", USER, *words)


@pytest.fixture
def options(private_server: EmbeddedServer, admin: "redis.Redis") -> ServerOptions:
    """How the user of least rights connects."""
    admin.execute_command(*needs_of(admin).acl_line(USER, PASSWORD).split())
    return ServerOptions(url=private_server.url, username=USER, password=PASSWORD)


@pytest.fixture
def ann(private_server: EmbeddedServer, options: ServerOptions) -> Generator["redis.Redis"]:
    """That user, by plain commands."""
    url = private_server.url.replace("unix://", f"unix://{USER}:{PASSWORD}@")
    with redis.Redis.from_url(url) as client:
        yield client


FORBIDDEN = [
    ("FLUSHALL",),
    ("FLUSHDB",),
    ("CONFIG", "SET", "maxmemory", "1"),
    ("CONFIG", "GET", "*"),
    ("SCRIPT", "FLUSH"),
    ("FUNCTION", "FLUSH"),
    ("KEYS", "*"),
    ("SCAN", "0"),
    ("PUBLISH", "events", "x"),
    ("PUBLISH", "emq:{other}:events", "x"),
    ("SUBSCRIBE", "events"),
    ("ACL", "WHOAMI"),
    ("SHUTDOWN",),
    ("MONITOR",),
    ("GET", "foreign"),
    ("SET", "foreign", "x"),
    ("HGET", FOREIGN, "ext"),
    ("DEL", FOREIGN),
]
IN_SCRIPTS = [command for command in FORBIDDEN if command[0] not in {"MONITOR", "SUBSCRIBE"}]


@pytest.mark.case("SEC-15")
def test_what_is_not_granted_is_refused(ann: "redis.Redis"):
    allowed: list[str] = []
    for command in FORBIDDEN:
        with suppress(NoPermissionError):
            ann.execute_command(*command)
            allowed.append(" ".join(command))

    assert allowed == []


@pytest.mark.case("SEC-15")
def test_what_is_not_granted_is_refused_in_a_script_too(ann: "redis.Redis", admin: "redis.Redis"):
    admin.set("foreign", "kept")
    admin.hset(FOREIGN, "ext", "1")
    allowed: list[str] = []
    for command in IN_SCRIPTS:
        with suppress(redis.ResponseError):
            ann.eval("return redis.call(unpack(ARGV))", 0, *command)
            allowed.append(" ".join(command))

    assert allowed == []
    assert (admin.get("foreign"), admin.hget(FOREIGN, "ext")) == (b"kept", b"1")


def test_keys_of_the_queue_can_be_reached(ann: "redis.Redis"):
    ann.hset(KEY, "x", "1")
    assert ann.hget(KEY, "x") == b"1"


LACKS = [
    (("-zadd", "-blpop"), Missing(("blpop", "zadd"))),
    (("-evalsha",), Missing(("eval", "evalsha"))),
    (("-client|setname",), Missing(("client|setname",))),
    (
        ("resetkeys", "~{emq}:*", "~emq:{other}:*"),
        Missing(keys=(f"emq:{{{QUEUE}}}:*",)),
    ),
    (("resetkeys", "~{emq}:version", f"~emq:{{{QUEUE}}}:*"), Missing(keys=("{emq}:nodes",))),
    (
        ("resetkeys", "%R~{emq}:*", f"~emq:{{{QUEUE}}}:*"),
        Missing(keys=("{emq}:version",)),
    ),
    ((), Missing()),
]


@pytest.mark.parametrize(("words", "missing"), LACKS, ids=lambda value: str(value)[:40])
async def test_what_a_user_lacks_is_told_without_trying_it(
    options: ServerOptions, admin: "redis.Redis", words: tuple[str, ...], missing: Missing
):
    async with Server(options) as server:
        rule(admin, *words)
        keys = admin.keys()
        found = await server.missing_rights(needs_of(admin))

    assert found == missing
    assert admin.keys() == keys


async def test_a_user_who_may_not_log_in_is_refused_before(
    options: ServerOptions, admin: "redis.Redis"
):
    rule(admin, "off")
    server = Server(options)
    with pytest.raises(AccessError):
        await server.open()
    await server.aclose()


async def test_an_operator_may_do_more_than_a_worker_and_a_producer_less(admin: "redis.Redis"):
    producer, worker, operator = (set(needs_of(admin, role).commands()) for role in Role)
    assert producer < worker < operator
