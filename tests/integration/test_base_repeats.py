"""Repeating registrations of the base wire are fired: each occurrence is made once."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from echomq_worker.domain.job import JobId, NewJob
from echomq_worker.domain.repeats import RepeatsFired
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import InvalidIdError, OutOfMemoryError
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, claim, enqueue, job_id
from tests.support.look import Look
from tests.support.repeats import a_peer_registers, next_of, now_ms

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
FAR_MS = 4_000_000_000_000
IDS = [job_id(number) for number in range(100, 150)]
BROKEN = {
    "no record": [],
    "no interval": [("HSET", "@repeat:bad", "template", "t")],
    "no template": [("HSET", "@repeat:bad", "every_ms", "60000")],
    "an interval in words": [("HSET", "@repeat:bad", "every_ms", "often", "template", "t")],
    "a fraction": [("HSET", "@repeat:bad", "every_ms", "1.5", "template", "t")],
    "a power": [("HSET", "@repeat:bad", "every_ms", "1e3", "template", "t")],
    "nothing": [("HSET", "@repeat:bad", "every_ms", "0", "template", "t")],
    "less than nothing": [("HSET", "@repeat:bad", "every_ms", "-5", "template", "t")],
    "no end of digits": [("HSET", "@repeat:bad", "every_ms", "9" * 400, "template", "t")],
    "a text": [("SET", "@repeat:bad", "t")],
}


async def test_what_a_peer_registered_is_fired_as_the_flat_job_that_its_pump_would_make(
    queue: QueueStore, line: Line, look: Look
):
    await a_peer_registers(look, "report", HOUR_MS, await now_ms(look) - 10)
    planned = await next_of(look, "report")

    fired = await queue.repeats.fire([A])

    assert fired.fired == (("report", A),)
    assert fired.next_ms == planned + HOUR_MS == await next_of(look, "report")
    assert await look.row(A) == {"state": "pending", "attempts": "0", "payload": "of report"}
    assert await look.scores(look.keys.pending) == {A: 0}
    assert await look.bells() == 1
    (held,) = await claim(line)
    assert (held.id, held.payload, held.name) == (A, b"of report", None)


async def a_pump_enqueues(queue: QueueStore, names: Sequence[str], ids: Sequence[JobId]) -> None:
    """Do the second of the three calls of another runtime's pump; the first reads what is due."""
    jobs = [NewJob(id_, f"of {name}".encode()) for name, id_ in zip(names, ids, strict=True)]
    await queue.enqueue(jobs)


async def test_an_occurrence_that_a_peers_pump_has_fired_does_not_fire_here(
    queue: QueueStore, look: Look
):
    await a_peer_registers(look, "r", HOUR_MS, await now_ms(look))
    (due,) = await queue.repeats.due(9)
    await a_pump_enqueues(queue, [due.name], [A])
    await queue.repeats.advance("r", await now_ms(look) + HOUR_MS)

    assert (await queue.repeats.fire([B])).fired == ()
    assert await look.members(look.keys.pending) == [A]


async def test_a_peers_pump_may_double_an_occurrence_but_loses_none(queue: QueueStore, look: Look):
    await a_peer_registers(look, "r", HOUR_MS, await now_ms(look))
    (due,) = await queue.repeats.due(9)
    fired = await queue.repeats.fire([A])
    # It has read before we fired, and goes on: this is why one side should fire.
    await a_pump_enqueues(queue, [due.name], [B])
    peers_next = await now_ms(look) + HOUR_MS
    await queue.repeats.advance("r", peers_next)

    assert fired.fired == (("r", A),)
    assert await look.members(look.keys.pending) == [A, B]
    assert await next_of(look, "r") == peers_next
    # One that dies between its calls leaves the occurrence due.
    await queue.repeats.advance("r", 1)
    await a_pump_enqueues(queue, ["r"], [C])
    assert len((await queue.repeats.fire(IDS)).fired) == 1


async def test_what_is_not_due_is_left_alone(queue: QueueStore, look: Look):
    await a_peer_registers(look, "later", HOUR_MS, FAR_MS)
    before = await look.dumps()

    assert (await queue.repeats.fire(IDS)).fired == ()
    assert await queue.repeats.due(9) == []
    assert await queue.repeats.count() == 1
    assert await look.dumps() == before


async def test_what_was_missed_is_one_job_and_the_grid_stays(queue: QueueStore, look: Look):
    start = await now_ms(look) - 1_000 * HOUR_MS - 7
    await a_peer_registers(look, "hourly", HOUR_MS, start)

    first = await queue.repeats.fire(IDS)
    again = await queue.repeats.fire(IDS[1:])

    assert [name for name, _ in first.fired] == ["hourly"]
    assert again.fired == ()
    following = await next_of(look, "hourly")
    assert following > first.now_ms
    assert following == start + 1_001 * HOUR_MS


@pytest.mark.parametrize("score", ["-inf", "-1e300", "0.25", "-5"])
async def test_a_time_that_makes_no_sense_fires_once_and_then_by_the_interval(
    score: str, queue: QueueStore, look: Look
):
    await a_peer_registers(look, "odd", HOUR_MS, 0)
    await look.do("ZADD", look.keys.repeat, score, "odd")

    fired = await queue.repeats.fire(IDS)

    assert len(fired.fired) == 1
    assert fired.now_ms < await next_of(look, "odd") <= fired.now_ms + HOUR_MS
    assert (await queue.repeats.fire(IDS[1:])).fired == ()


async def test_many_workers_at_once_fire_each_registration_once(
    new_queue_name: Callable[[], str], server_url: str
):
    name = new_queue_name()
    servers = [Server(ServerOptions(url=server_url)) for _ in range(5)]
    queues = [server.queue(name) for server in servers]
    for number in range(100):
        await queues[0].repeats.register(f"r{number}", HOUR_MS, b"x")

    async def fire(who: int) -> list[RepeatsFired]:
        own = [job_id(1_000 * who + number) for number in range(40)]
        return [await queues[who].repeats.fire(own) for _ in range(4)]

    told = await asyncio.gather(*(fire(who) for who in range(5)))
    fired = [pair for calls in told for call in calls for pair in call.fired]
    jobs = (await queues[0].counts()).pending
    for server in servers:
        await server.aclose()

    assert sorted(name for name, _ in fired) == sorted(f"r{number}" for number in range(100))
    assert len({job for _, job in fired}) == jobs == 100


async def test_no_more_fire_than_there_are_ids_the_earliest_first(queue: QueueStore, look: Look):
    for number in range(3):
        await a_peer_registers(look, f"r{number}", HOUR_MS, 10 - number)

    fired = await queue.repeats.fire([A, B])
    assert fired.fired == (("r2", A), ("r1", B))
    assert fired.next_ms is not None
    assert fired.next_ms <= fired.now_ms
    assert (await queue.repeats.fire([])).fired == ()
    assert (await queue.repeats.fire([C])).fired == (("r0", C),)


async def test_an_id_that_is_taken_is_passed_over(queue: QueueStore, look: Look):
    await enqueue(queue, A)
    await a_peer_registers(look, "r", HOUR_MS, 1)

    assert (await queue.repeats.fire([A])).fired == ()
    assert await next_of(look, "r") == 1
    assert (await queue.repeats.fire([A, B])).fired == (("r", B),)
    assert (await look.row(A))["payload"] == A


async def test_a_call_that_comes_again_or_late_fires_nothing_twice(queue: QueueStore, look: Look):
    await a_peer_registers(look, "r", HOUR_MS, 1)

    first = await queue.repeats.fire([A, B])
    for _ in range(3):
        assert (await queue.repeats.fire([A, B])).fired == ()

    assert first.fired == (("r", A),)
    assert await look.members(look.keys.pending) == [A]


@pytest.mark.parametrize("kind", BROKEN)
async def test_a_registration_that_cannot_fire_is_moved_aside_and_the_others_fire(
    kind: str, queue: QueueStore, look: Look
):
    await look.do("ZADD", look.keys.repeat, 1, "bad")
    for words in BROKEN[kind]:
        await look.do(*(word.replace("@", look.keys.root) for word in words))
    await a_peer_registers(look, "good", HOUR_MS, 2)
    before = await look.everything()
    listed = {each.name: each for each in await queue.repeats.due(9)}
    assert listed["bad"].problem
    assert not listed["good"].problem

    fired = await queue.repeats.fire([A, B])

    assert fired.fired == (("good", A),)
    assert fired.set_aside == (("bad", listed["bad"].problem),)
    assert await look.members(look.keys.repeat) == ["good"]
    (entry,) = await look.quarantine()
    assert (entry["id"], entry["reason"]) == ("repeat:bad", listed["bad"].problem)
    after = await look.everything()
    assert "repeat:bad" not in after
    assert after.get("aside:repeat:bad") == before.get("repeat:bad")
    if BROKEN[kind]:
        assert 0 < await look.do("PTTL", f"{look.keys.root}aside:repeat:bad") <= 7 * 24 * HOUR_MS
    assert (await queue.repeats.fire([C])).set_aside == ()


async def test_a_claim_tells_when_the_next_one_is_due(queue: QueueStore, line: Line):
    await queue.repeats.register("r", HOUR_MS, b"")
    fired = await queue.repeats.fire([A])

    claimed = await line.claim(limit=0, lease_ms=MINUTE_MS, promote=0)

    assert claimed.next_fire_ms == fired.next_ms


@pytest.mark.broken_state("a time without a beginning is what is tested")
@pytest.mark.parametrize("key", ["repeat", "schedulers"])
async def test_a_time_without_a_beginning_hides_no_other_from_the_watcher(
    key: str, line: Line, look: Look
):
    await look.do("ZADD", f"{look.keys.root}{key}", "-inf", "odd", FAR_MS, "other")

    claimed = await line.claim(limit=0, lease_ms=MINUTE_MS, promote=0)

    assert claimed.next_fire_ms == 0


async def test_what_fires_is_noted_in_the_log_if_there_is_one(
    server_url: str, queue_name: str, look: Look
):
    async with Server(ServerOptions(url=server_url, log_size=100)) as server:
        queue = server.queue(queue_name)
        await queue.repeats.register("r", HOUR_MS, b"x")
        await queue.repeats.fire([A])

        (entry,) = await queue.log()
    assert (entry.event, entry.id) == ("enqueued", A)
    assert (await look.row(A))["payload"] == "x"


async def test_only_job_ids_are_taken(queue: QueueStore):
    await queue.repeats.register("r", HOUR_MS, b"")

    with pytest.raises(InvalidIdError):
        await queue.repeats.fire([JobId("USR0KHTOWnGLuC")])
    assert await queue.repeats.count() == 1


async def test_a_full_server_fires_nothing_and_loses_nothing(
    private_server: EmbeddedServer, own_look: Look
):
    look = own_look
    async with Server(ServerOptions(url=private_server.url)) as server:
        repeats = server.queue(look.keys.queue).repeats
        await repeats.register("r", HOUR_MS, b"x")
        await look.do("ZADD", look.keys.repeat, 0, "bad")
        before = await look.dumps()
        await look.do("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(OutOfMemoryError):
            await repeats.fire([A, B])
        assert await look.dumps() == before
        await look.do("CONFIG", "SET", "maxmemory", "0")

        assert (await repeats.fire([A, B])).fired == (("r", A),)
