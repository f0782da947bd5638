"""Repeating registrations as another runtime writes them, and a look at when they fire."""

from tests.support.look import Look


async def a_peer_registers(look: Look, name: str, every_ms: int, next_ms: float) -> None:
    """Write what another runtime's pump writes."""
    record = look.keys.repeat_record(name)
    await look.do("HSET", record, "every_ms", str(every_ms), "template", f"of {name}")
    await look.do("ZADD", look.keys.repeat, next_ms, name)


async def next_of(look: Look, name: str) -> int:
    return (await look.scores(look.keys.repeat))[name]


async def now_ms(look: Look) -> int:
    return await look.now_us() // 1_000
