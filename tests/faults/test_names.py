"""Names: one rule for each kind, the same everywhere, and no name reaches beyond its queue."""

from typing import Any

import pytest

from echomq_worker import EchoMQ
from echomq_worker.cli.find import find_queues
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.queue_name import check_queue_name, parse_queues
from echomq_worker.errors import (
    HandlerError,
    InvalidArgumentError,
    InvalidIdError,
    InvalidQueueError,
)
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.store import Server, ServerOptions
from tests.support.jobs import A, B, C, claim, new_job
from tests.support.stores import no_trouble
from tests.unit.client_fakes import FakeBackend

STRANGE = [
    *("", " ", "a b", "\t", "a\nb", "a\x00", "ü", "e\u0301", "\u00e9", "\U0001f600", "x" * 256),
    *("x" * 10_000, "*", "?", "[a]", "\\", "../x", "a'b", 'a"b', "%s", "${x}", "<b>", "a:b"),
    *("::", ":a", "a:", "a{b}", "\ud800"),
]
VISIBLE = frozenset(map(chr, range(0x21, 0x7F)))


@pytest.mark.case("NAM-02", "NAM-03")
@pytest.mark.parametrize("name", STRANGE)
async def test_a_strange_name_of_a_queue_is_refused_wherever_one_is_given(name: str):
    app = EchoMQ(backend=FakeBackend())

    @app.job("work")
    async def work() -> None: ...

    with pytest.raises(InvalidQueueError):
        check_queue_name(name)
    with pytest.raises(InvalidQueueError):
        Keyspace(name)
    with pytest.raises((InvalidQueueError, HandlerError)):
        app.job("other", queue=name)(_nothing)
    with pytest.raises(InvalidQueueError):
        await work.options(queue=name).enqueue()
    with pytest.raises(InvalidArgumentError):
        parse_queues(f"{name},")


async def _nothing() -> None: ...


@pytest.mark.case("NAM-03")
@pytest.mark.parametrize("name", STRANGE)
async def test_a_handler_is_named_by_visible_characters_or_not_at_all(name: str):
    app = EchoMQ(backend=FakeBackend())
    if 1 <= len(name) <= 200 and VISIBLE.issuperset(name):
        app.job(name)(_nothing)
        return
    with pytest.raises(HandlerError):
        app.job(name)(_nothing)


@pytest.mark.case("NAM-05", "NAM-02")
@pytest.mark.parametrize("id_", [1, "1", b"1", True, f"{A}:x", f":{A}", A + "x", "", A.encode()])
async def test_only_a_branded_id_is_an_id(id_: Any):
    app = EchoMQ(backend=FakeBackend())

    @app.job("work")
    async def work() -> None: ...

    with pytest.raises(InvalidIdError):
        parse_id(id_)
    with pytest.raises(InvalidIdError):
        await work.options(job_id=id_).enqueue()


SUFFIXES = [
    *("schedule", "pending", "dead", "active", "events", "meta", "job", "bell", "quarantine"),
    *("prioritized", "pc", "turn", "ring", "g", "gates", "parked", "limits"),
]


@pytest.mark.case("NAM-06")
@pytest.mark.parametrize("suffix", SUFFIXES)
async def test_a_queue_named_like_a_key_is_a_queue_like_any_other(
    server: Server, queue_name: str, new_queue_name: Any, suffix: str
):
    one, other = server.queue(queue_name), server.queue(f"{new_queue_name()}.{suffix}"[:128])
    keys = Keyspace(suffix)
    everything = {keys.pending, keys.active, keys.schedule, keys.dead, keys.meta, keys.job(A)}
    assert len(everything) == 6
    assert all(key.startswith(f"emq:{{{suffix}}}:") for key in everything)
    await one.enqueue([new_job(A)])
    assert (await other.counts()).pending == 0


@pytest.mark.case("NAM-02", "SEC-17")
async def test_queues_whose_names_begin_alike_have_nothing_in_common(
    server_url: str, queue_name: str, new_queue_name: Any
):
    async with Server(ServerOptions(url=server_url)) as server:
        names = [queue_name, new_queue_name(), new_queue_name()]
        stores = [server.queue(name) for name in names]
        for store, id_ in zip(stores, (A, B, C), strict=True):
            await store.enqueue([new_job(id_)])
        assert set(names) <= set(await find_queues(server, (), ()))
        line = stores[0].line(trouble=no_trouble)
        assert [job.id for job in await claim(line, 9)] == [A]
        await line.aclose()
        assert [await store.pending_ids(9) for store in stores] == [[], [B], [C]]
        assert not await stores[0].forget()
        assert [(await store.counts()).pending for store in stores[1:]] == [1, 1]
