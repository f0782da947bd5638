"""The check that holds every other test to clean up is itself held to work."""

import pytest
import redis

from echomq_worker.protocol.keyspace import Keyspace
from tests.support.leaks import LeakCheck


@pytest.fixture
def check(leak_client: "redis.Redis", queue_name: str) -> LeakCheck:
    return LeakCheck(leak_client, {queue_name})


def test_keys_of_the_tests_own_queue_are_deleted_without_complaint(
    check: LeakCheck, leak_client: "redis.Redis", queue_name: str
):
    keys = Keyspace(queue_name)
    leak_client.zadd(keys.pending, {"JOB00000000001": 0})
    leak_client.hset(
        keys.job("JOB00000000001"), mapping={"payload": "x", "attempts": 0, "state": "pending"}
    )

    assert check.finish() == []
    assert leak_client.exists(keys.pending, keys.job("JOB00000000001")) == 0


def test_a_key_of_another_queue_is_named(check: LeakCheck, leak_client: "redis.Redis"):
    leak_client.set("emq:{default}:meta", "x")

    (text,) = check.finish()

    assert text == "emq:{default}:meta: of a queue that the test was not given"
    assert leak_client.exists("emq:{default}:meta") == 0


def test_a_key_that_nobody_spells_is_named(
    check: LeakCheck, leak_client: "redis.Redis", queue_name: str
):
    leak_client.set(f"emq:{{{queue_name}}}:surprise", "x")

    assert [text.split(": ")[-1] for text in check.finish()] == [
        "protocol/families.py knows no such key"
    ]


def test_a_receipt_without_an_expiry_is_named(
    check: LeakCheck, leak_client: "redis.Redis", queue_name: str
):
    keys = Keyspace(queue_name)
    leak_client.set(keys.call("a"), "x")
    leak_client.set(keys.call("b"), "x", px=60_000)

    assert check.finish() == [f"{keys.call('a')}: must expire, but has no expiry"]


@pytest.mark.broken_state("that is what is looked for")
def test_what_is_out_of_place_in_the_tests_own_queue_is_told(
    check: LeakCheck, leak_client: "redis.Redis", queue_name: str
):
    leak_client.zadd(Keyspace(queue_name).pending, {"JOB00000000001": 0})

    (text,) = check.finish()

    assert text.endswith("member-without-row: JOB00000000001 lies in pending but has no row")


@pytest.mark.broken_state("a key is of another type")
def test_keys_that_were_there_before_the_test_are_left_alone(
    leak_client: "redis.Redis", queue_name: str
):
    key = Keyspace(queue_name).meta
    leak_client.set(key, "x")

    assert LeakCheck(leak_client).finish() == []
    assert leak_client.exists(key) == 1
