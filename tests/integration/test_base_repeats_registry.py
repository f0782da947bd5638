"""Repeating registrations of the base wire are made, listed, moved and cancelled."""

from collections.abc import Awaitable, Callable, Mapping

import pytest

from echomq_worker.errors import InvalidArgumentError, WrongTypeError
from echomq_worker.store import QueueStore
from echomq_worker.store.repeats import RepeatStore
from tests.support.jobs import A
from tests.support.look import Look
from tests.support.repeats import next_of, now_ms

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
FAR_MS = 4_000_000_000_000
CALLS: Mapping[str, tuple[Callable[[RepeatStore], Awaitable[object]], set[str]]] = {
    "register": (lambda on: on.register("r", 5, b"x"), {"repeat", "repeat:r", "clock"}),
    "advance": (lambda on: on.advance("r", 5), {"repeat", "repeat:r", "clock"}),
    "cancel": (lambda on: on.cancel("r"), {"repeat", "repeat:r"}),
    "list": (lambda on: on.list(), {"repeat"}),
    "fire": (lambda on: on.fire([A]), {"repeat", "pending", "bell", "quarantine", "ring"}),
}
"""What each call does, and which keys it needs to be of their type."""


async def test_a_registration_has_both_fields_and_is_not_replaced(queue: QueueStore, look: Look):
    repeats = queue.repeats
    before = await now_ms(look)
    assert await repeats.register("daily", HOUR_MS, b"\xff\x00", first_in_ms=MINUTE_MS)
    assert not await repeats.register("daily", 5, b"other")

    (found,) = await repeats.list()
    assert (found.name, found.every_ms, found.template) == ("daily", HOUR_MS, b"\xff\x00")
    assert found.problem == ""
    assert before + MINUTE_MS <= found.next_ms <= await now_ms(look) + 1 + MINUTE_MS
    assert await look.hash(look.keys.repeat_record("daily")) == {
        "every_ms": str(HOUR_MS),
        "template": r"\xff" + "\x00",
    }


@pytest.mark.parametrize("name", ["", "a b", "ä", "a\n", "x" * 201])
async def test_a_name_that_could_not_be_typed_is_refused(name: str, queue: QueueStore):
    with pytest.raises(InvalidArgumentError, match="visible ASCII"):
        await queue.repeats.register(name, 5, b"")


@pytest.mark.parametrize(
    ("every_ms", "first_ms"), [(0, 0), (-1, 0), (10**15, 0), (1.5, 0), (1, -1)]
)
async def test_an_interval_is_a_whole_number_of_ms(
    every_ms: int, first_ms: int, queue: QueueStore, look: Look
):
    with pytest.raises(InvalidArgumentError, match="whole number of ms"):
        await queue.repeats.register("r", every_ms, b"", first_ms)
    assert not await look.do("EXISTS", look.keys.repeat)


async def test_names_of_peers_may_hold_anything(queue: QueueStore, look: Look):
    odd = b"n\xff \n\x00:{x}"
    record = look.keys.repeat.encode() + b":" + odd
    await look.do("HSET", record, "every_ms", "5", "template", "t")
    await look.do("ZADD", look.keys.repeat, 1, odd)

    ((name, _),) = (await queue.repeats.fire([A])).fired
    (found,) = await queue.repeats.list()

    assert name == found.name
    assert name.encode("utf-8", "surrogateescape") == odd
    assert await queue.repeats.advance(name, FAR_MS)
    assert await queue.repeats.cancel(name)
    assert not await look.do("EXISTS", record, look.keys.repeat)


async def test_a_registration_is_moved_and_cancelled(queue: QueueStore, look: Look):
    await queue.repeats.register("r", HOUR_MS, b"x")

    assert await queue.repeats.advance("r", FAR_MS)
    assert await next_of(look, "r") == FAR_MS
    assert await queue.repeats.cancel("r")
    assert not await queue.repeats.cancel("r")
    assert not await queue.repeats.advance("r", FAR_MS)
    assert await look.key_names() == [look.keys.clock]


async def test_moving_one_whose_record_is_gone_takes_the_rest_away(queue: QueueStore, look: Look):
    await look.do("ZADD", look.keys.repeat, 1, "ghost")

    assert not await queue.repeats.advance("ghost", FAR_MS)
    assert not await look.do("EXISTS", look.keys.repeat)


async def test_the_watcher_is_nudged_when_another_is_first(queue: QueueStore, look: Look):
    async def nudged() -> bool:
        return await look.do("DEL", look.keys.clock) == 1

    await queue.repeats.register("b", HOUR_MS, b"", first_in_ms=HOUR_MS)
    assert await nudged()
    await queue.repeats.register("c", HOUR_MS, b"", first_in_ms=2 * HOUR_MS)
    assert not await nudged()
    await queue.repeats.register("a", HOUR_MS, b"", first_in_ms=MINUTE_MS)
    assert await nudged()
    await queue.repeats.advance("a", FAR_MS)
    assert not await nudged()
    await queue.repeats.advance("c", 1)
    assert await nudged()


async def test_a_queue_with_registrations_is_not_forgotten(queue: QueueStore, look: Look):
    await queue.repeats.register("r", HOUR_MS, b"x", first_in_ms=HOUR_MS)
    await queue.pause()

    assert not await queue.forget()
    assert (await queue.counts()).paused
    await queue.repeats.cancel("r")
    assert await queue.forget()

    await look.do("ZADD", f"{look.keys.root}schedulers", "+inf", "nightly")
    assert not await queue.forget()
    await look.do("DEL", f"{look.keys.root}schedulers")


@pytest.mark.broken_state("keys of wrong types are what is tested")
@pytest.mark.parametrize(
    "key", ["repeat", "repeat:r", "clock", "pending", "bell", "quarantine", "ring"]
)
@pytest.mark.parametrize("call", CALLS)
async def test_a_key_of_another_type_is_named_before_anything_is_written(
    call: str, key: str, queue: QueueStore, look: Look
):
    do, needs = CALLS[call]
    await queue.repeats.register("r", HOUR_MS, b"x")
    await queue.repeats.register("s", HOUR_MS, b"x")
    await look.do("DEL", f"{look.keys.root}{key}")
    await look.do("SET", f"{look.keys.root}{key}", "foreign")
    before = await look.dumps()

    if key not in needs:
        await do(queue.repeats)
    else:
        with pytest.raises(WrongTypeError, match=f"{key} holds a string"):
            await do(queue.repeats)
        assert await look.dumps() == before
    assert await look.do("GET", f"{look.keys.root}{key}") == (
        None if (call, key) == ("fire", "repeat:r") else b"foreign"
    )
