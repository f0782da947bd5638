"""Schedulers where something is wrong: foreign keys, a full server, arguments that do not fit."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

import pytest
import pytest_asyncio
import redis

from echomq_worker.domain.scheduling.records import PutVerdict, Whole
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import (
    CorruptSchedulerError,
    InvalidArgumentError,
    OutOfMemoryError,
    WrongTypeError,
)
from echomq_worker.store import Server, ServerOptions
from tests.support.jobs import A
from tests.support.look import Look
from tests.support.private import QUEUE
from tests.support.schedulers import FIRED, Timetable, every, words

Act = Callable[[Timetable], Awaitable[object]]


async def fire(times: Timetable) -> None:
    plan = await times.plan(await times.due())
    await times.store.fire([replace(plan[0], name="s1")])


async def retime(times: Timetable) -> None:
    await times.store.retime("s1", expected_ms=1, digest="d", next_ms=5, wake_ms=5, tz="2026b")


ACTS: dict[str, Act] = {
    "put": lambda t: t.put(every(template=Template(name="new"))),
    "pause": lambda t: t.store.pause("s1"),
    "resume": lambda t: t.store.resume("s1"),
    "remove": lambda t: t.store.remove("s1"),
    "trigger": lambda t: t.store.trigger("s1", A),
    "due": lambda t: t.due(),
    "fire": fire,
    "retime": retime,
    "list": lambda t: t.store.list(10),
}
NEEDS = {
    "schedulers": {"put", "pause", "resume", "remove", "due", "fire", "retime", "list"},
    "scheduler:s1": {"put", "pause", "resume", "trigger"},
    "pending": {"trigger", "fire"},
    "bell": {"trigger", "fire"},
    "clock": {"put", "retime"},
}
"""What an act needs, besides the scheduler itself for those who skip one that is no hash."""


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("key", NEEDS)
@pytest.mark.broken_state("a key of the queue holds another type")
async def test_a_key_of_a_foreign_type_is_named_and_nothing_is_changed(
    times: Timetable, look: Look, key: str, act: str
):
    await times.put(every())
    await times.make_due()
    plan = await times.plan(await times.due())
    await look.do("DEL", look.keys.root + key)
    foreign = ("SADD",) if key != "bell" else ("SET",)
    await look.do(*foreign, look.keys.root + key, "foreign")
    before = await look.dumps()

    async def do() -> None:
        if act == "fire":
            await times.store.fire(plan)
        else:
            await ACTS[act](times)

    if act not in NEEDS[key]:
        await do()
        return
    with pytest.raises((WrongTypeError, CorruptSchedulerError), match=key.partition(":")[0]):
        await do()
    assert await look.dumps() == before


@pytest.mark.broken_state("a key of the queue holds another type")
async def test_a_log_of_a_foreign_type_stops_a_firing_before_it_begins(
    times: Timetable, look: Look
):
    times.store._log_size = 10
    await times.put(every())
    await times.make_due()
    await look.do("SET", look.keys.log, "foreign")
    before = await look.dumps()

    with pytest.raises(WrongTypeError, match="log"):
        await times.fire_due()
    assert await look.dumps() == before


async def test_a_scheduler_that_is_no_hash_stops_no_other(times: Timetable, look: Look):
    for name in ("s1", "s2"):
        await times.put(every(name))
        await times.make_due(name)
    plan = await times.plan(await times.due())
    await look.do("DEL", look.keys.scheduler("s1"))
    await look.do("SET", look.keys.scheduler("s1"), "foreign")

    fired = {each.name: each.whole for each in await times.store.fire(plan)}
    assert fired == {"s1": Whole.TAKEN, "s2": Whole.OK}
    assert await times.store.remove("s1")


async def test_books_that_hold_nonsense_do_not_stop_a_firing_midway(times: Timetable, look: Look):
    await times.put(every(overlap="skip"))
    await times.make_due()
    plan = await times.plan(await times.due())
    nonsense = ("last", "x", "skipped", "x", "missed", "x", "runs", "a b", "live", "no-id")
    await look.do("HSET", look.keys.scheduler("s1"), *nonsense)

    assert [words(each) for each in await times.store.fire(plan)] == [[FIRED]]
    view = await times.view()
    assert (view.count, view.missed, view.skipped) == (1, 0, 0)


async def test_a_predecessor_whose_row_is_no_hash_is_none(times: Timetable, look: Look):
    await times.put(every(overlap="skip"))
    await times.make_due()
    await times.fire_due()
    (job,) = await times.jobs()
    await look.do("DEL", look.keys.job(job), look.keys.pending)
    await look.do("SET", look.keys.job(job), "foreign")

    await times.make_due()
    assert await times.fire_one() == [FIRED]
    await look.do("DEL", look.keys.job(job))


@pytest_asyncio.fixture
async def own(private_server: EmbeddedServer, own_look: Look) -> AsyncGenerator[Timetable]:
    """Schedulers on a server of the test's own: s1 is due, s2 is paused."""
    async with Server(ServerOptions(url=private_server.url)) as server:
        times = Timetable(server.queue(QUEUE).schedulers, own_look)
        for name in ("s1", "s2", "s3"):
            await times.put(every(name))
        await times.store.pause("s2")
        await times.make_due("s1")
        # Scripts are sent in full where the server does not know them, which takes memory too.
        await times.store.pause("s3")
        await times.store.resume("s3")
        await times.store.trigger("absent", A)
        await times.store.remove("absent")
        await times.store.fire([])
        await times.store.set_aside("absent", "")
        yield times


@pytest.mark.parametrize("act", ["put", "create", "trigger", "fire", "retime"])
@pytest.mark.case("SRV-03")
async def test_a_full_server_refuses_whole_what_takes_memory(
    own: Timetable, admin: "redis.Redis", own_look: Look, act: str
):
    view = await own.view()
    plan = await own.plan(await own.due())
    acts: dict[str, Callable[[], Awaitable[object]]] = {
        "put": lambda: own.put(every(template=Template(name="new"))),
        "create": lambda: own.put(every("s9")),
        "trigger": lambda: own.store.trigger("s1", A),
        "fire": lambda: own.store.fire(plan),
        "retime": lambda: own.store.retime(
            "s1",
            expected_ms=view.next_ms,
            digest=view.digest,
            next_ms=4_000_000_000_000,
            wake_ms=4_000_000_000_000,
            tz="",
        ),
    }
    before = await own_look.dumps()
    admin.config_set("maxmemory", 1)

    with pytest.raises(OutOfMemoryError):
        await acts[act]()
    assert await own_look.dumps() == before
    admin.config_set("maxmemory", 0)
    assert await acts[act]()


@pytest.mark.case("SRV-03")
async def test_a_full_server_lets_schedulers_be_paused_resumed_and_removed(
    own: Timetable, admin: "redis.Redis", own_look: Look
):
    admin.config_set("maxmemory", 1)
    assert await own.store.pause("s1", reason="full", by="ann")
    assert await own.store.resume("s2")
    assert await own.store.remove("s3")
    assert [view.name for view in await own.store.list(10)] == ["s2", "s1"]

    paused = (await own.view("s1")).paused
    assert paused is not None
    assert paused.reason == "full"
    admin.config_set("maxmemory", 0)


@pytest.mark.case("SRV-03")
async def test_a_full_server_lets_a_broken_scheduler_be_set_aside(
    own: Timetable, admin: "redis.Redis", own_look: Look
):
    await own_look.do("HSET", own_look.keys.scheduler("s1"), "every", "x")
    admin.config_set("maxmemory", 1)

    assert await own.store.set_aside("s1", "it cannot be read")
    admin.config_set("maxmemory", 0)
    assert [entry["id"] for entry in await own_look.quarantine()] == ["scheduler:s1"]


@pytest.mark.case("SRV-03")
async def test_a_declaration_that_changes_nothing_goes_through_on_a_full_server(
    own: Timetable, admin: "redis.Redis"
):
    admin.config_set("maxmemory", 1)

    assert await own.put(every()) is PutVerdict.UNCHANGED
    admin.config_set("maxmemory", 0)


GOOD = {
    "name": "s1",
    "digest": "d",
    "rule_digest": "r",
    "revision": 0,
    "force": "0",
    "source": "code",
    "instant": 5,
    "wake": 5,
    "tz": "",
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "a b"},
        {"name": "ä"},
        {"name": "x" * 201},
        {"revision": "-1"},
        {"revision": "one"},
        {"instant": "soon"},
        {"instant": ""},
        {"wake": "1.5"},
        {"wake": "-1"},
    ],
    ids=str,
)
async def test_a_declaration_that_is_malformed_is_refused(
    times: Timetable, look: Look, wrong: dict[str, str]
):
    with pytest.raises(InvalidArgumentError, match="EMQARG"):
        await times.store._calls.numbered("put_scheduler", GOOD | wrong, ["every", "5"])
    assert not await look.do("EXISTS", look.keys.schedulers)


@pytest.mark.parametrize("rest", [[], ["every"], ["every", "5"] * 51])
async def test_fields_that_do_not_pair_or_are_too_many_are_refused(
    times: Timetable, rest: list[str]
):
    with pytest.raises(InvalidArgumentError, match="EMQARG fields"):
        await times.store._calls.numbered("put_scheduler", GOOD, rest)


@pytest.mark.parametrize("limit", [0, 501, "all"])
async def test_a_page_has_bounds(times: Timetable, limit: int | str):
    with pytest.raises(InvalidArgumentError, match="EMQARG limit"):
        await times.store._calls.ask("due_schedulers", {"limit": limit, "offset": 0}, ["digest"])
    page = {"offset": 0, "limit": -1 if limit == 0 else limit}
    with pytest.raises(InvalidArgumentError, match="EMQARG limit"):
        await times.store._calls.ask("read_schedulers", page)
