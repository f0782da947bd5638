"""The server that the other tests run on, and how it is chosen."""

from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from tests.support import docker, servers
from tests.support.servers import NoTestServerError, Source, choose_source, with_database


async def test_the_server_answers_and_never_evicts(redis_client: "Redis"):
    assert await redis_client.ping() is True
    policy = await redis_client.config_get("maxmemory-policy")
    assert policy == {"maxmemory-policy": "noeviction"}


def test_every_name_of_a_queue_is_new(new_queue_name: Callable[[], str], queue_name: str):
    assert len({new_queue_name(), new_queue_name(), queue_name}) == 3


@pytest.mark.container
def test_with_a_docker_engine_the_server_runs_in_a_container(
    server_source: Source, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv(servers.GIVEN_URL, raising=False)

    assert choose_source().kind == "container"
    assert server_source.kind in {"container", "given"}


def test_a_server_that_the_environment_names_comes_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(servers.GIVEN_URL, "redis://127.0.0.1:7777/3")

    with choose_source(2).start() as url:
        assert url == "redis://127.0.0.1:7777/5"


def no_engine() -> str:
    return "no Docker engine answers"


def test_without_docker_the_server_is_embedded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(servers.GIVEN_URL, raising=False)
    monkeypatch.delenv(docker.MUST_RUN, raising=False)
    monkeypatch.setattr(servers, "why_no_engine", no_engine)

    assert choose_source().kind == "embedded"


def test_in_the_gate_a_missing_engine_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(servers.GIVEN_URL, raising=False)
    monkeypatch.setenv(docker.MUST_RUN, "1")
    monkeypatch.setattr(servers, "why_no_engine", no_engine)

    with pytest.raises(NoTestServerError, match="no Docker engine answers"):
        choose_source()


@pytest.mark.parametrize(
    ("url", "raised"),
    [
        ("redis://user:pw@host:6379", "redis://user:pw@host:6379/1"),
        ("redis://host:6379/4?protocol=3", "redis://host:6379/5?protocol=3"),
        ("unix:///tmp/s?db=2", "unix:///tmp/s?db=3"),
        ("unix:///tmp/s", "unix:///tmp/s?db=1"),
    ],
)
def test_parallel_test_processes_get_databases_of_their_own(url: str, raised: str):
    assert with_database(url, 1) == raised
