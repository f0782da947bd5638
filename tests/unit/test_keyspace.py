import inspect
from collections.abc import Callable

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.errors import InvalidArgumentError, InvalidIdError, InvalidQueueError
from echomq_worker.protocol.keyspace import (
    JOB_SUBKEYS,
    NODES_KEY,
    VERSION_KEY,
    Keyspace,
    check_dedup_id,
    stream_archived_key,
    stream_key,
)
from echomq_worker.protocol.slot import key_slot

JOB = JobId("JOB0NsUH6L9tuD")
ORDERS = Keyspace("orders")


def plain_keys() -> dict[str, str]:
    """Every key of the queue that needs no further name."""
    names = [name for name, member in inspect.getmembers(Keyspace) if isinstance(member, property)]
    return {name: getattr(ORDERS, name) for name in names}


def named_keys() -> dict[str, str]:
    """One of each kind of key that does."""
    return {
        "job": ORDERS.job(JOB),
        **{part: ORDERS.job_part(JOB, part) for part in JOB_SUBKEYS},
        "lane": ORDERS.lane("PRT0LaneAlpha1"),
        "dedup": ORDERS.dedup("order-42"),
        "call": ORDERS.call("host-1-a"),
        "done": ORDERS.done(JOB),
        "worker": ORDERS.worker("host-1"),
        "repeat_record": ORDERS.repeat_record("nightly"),
        "scheduler": ORDERS.scheduler("nightly"),
        "scheduler_aside": ORDERS.scheduler_aside("nightly"),
        "stream": stream_key(ORDERS, "audit"),
        "stream_archived": stream_archived_key(ORDERS, "audit"),
    }


def test_every_key_of_a_queue_lives_in_one_cluster_slot():
    keys = plain_keys() | named_keys()
    assert {key_slot(key) for key in keys.values()} == {105}
    assert all(key.startswith("emq:{orders}:") for key in keys.values())


def test_no_two_keys_are_spelled_alike():
    keys = [*plain_keys().values(), *named_keys().values()]
    assert len(set(keys)) == len(keys)


def test_every_key_says_its_type():
    kinds = ("String", "Hash", "List", "Set", "Sorted set", "Stream", "Channel", "What", "Return")
    for name, member in inspect.getmembers(Keyspace):
        if not name.startswith("_") and name != "queue":
            assert (inspect.getdoc(member) or "").startswith(kinds), name


@pytest.mark.parametrize(
    "name", ["", "emq", "a b", "a:b", "a}b", "{a}", "café", "a/b", "x" * 129, "a\0b", "a\n", "é"]
)
def test_a_name_that_could_break_a_key_names_no_queue(name: str):
    with pytest.raises(InvalidQueueError, match="cannot name a queue: use 1 to 128"):
        Keyspace(name)


@pytest.mark.parametrize("name", ["orders", "A", "a.b_c-9", "x" * 128, "emq2", "EMQ"])
def test_a_plain_name_names_a_queue(name: str):
    assert Keyspace(name).pending == f"emq:{{{name}}}:pending"


@pytest.mark.parametrize(
    "make",
    [
        lambda: ORDERS.job("JOB:weird"),
        lambda: ORDERS.job("PRT0LaneAlpha1"),
        lambda: ORDERS.job_part("", "logs"),
        lambda: ORDERS.done(JobId("x")),
        lambda: ORDERS.lane("acme"),
        lambda: ORDERS.lane("PRT0LaneAlpha1:x"),
    ],
)
def test_only_branded_ids_get_into_a_key(make: Callable[[], str]):
    with pytest.raises(InvalidIdError):
        make()


def test_a_job_has_only_the_parts_of_the_wire():
    assert ORDERS.job_part(JOB, "logs") == f"emq:{{orders}}:job:{JOB}:logs"
    with pytest.raises(InvalidArgumentError, match="a job has no part 'log'; it has dependencies"):
        ORDERS.job_part(JOB, "log")


@pytest.mark.parametrize("dedup_id", ["", "a b", "a:b", "x" * 256, "a\n"])
def test_a_deduplication_id_stays_within_its_characters(dedup_id: str):
    with pytest.raises(InvalidArgumentError, match="no deduplication id"):
        check_dedup_id(dedup_id)


def test_the_keys_of_the_whole_server_have_a_slot_of_their_own():
    assert key_slot(VERSION_KEY) == key_slot(NODES_KEY) == key_slot("emq") == 9051
