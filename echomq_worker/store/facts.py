"""Asks a server what it is and how it is set up."""

import time
from collections.abc import Awaitable, Callable

from echomq_worker.domain.server_facts import CONFIG_NAMES, ServerFacts
from echomq_worker.errors import ServerError, UnavailableError
from echomq_worker.store.wire import Reply

Command = Callable[..., Awaitable[Reply]]


async def read_facts(command: Command, *, config: bool = True) -> ServerFacts:
    """Return what a server says about itself, and how its clock differs from ours.

    Args:
        command: sends one command and returns the reply.
        config: ask for its settings as well, which not every user may see.

    Raises:
        ServerError: if it may not be asked what it is.
    """
    info = _pairs(await command("INFO"))
    before, began = time.time(), time.monotonic()
    seconds, micros = await command("TIME")
    took_s = time.monotonic() - began
    offset_s = int(seconds) + int(micros) / 1_000_000 - (before + took_s / 2)
    return ServerFacts(
        info=info,
        config=await _config(command) if config else None,
        clock_offset_ms=round(offset_s * 1_000),
        round_trip_ms=took_s * 1_000,
    )


async def _config(command: Command) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for name in CONFIG_NAMES:  # one by one: before Redis 7 a call takes one name
        try:
            reply = await command("CONFIG", "GET", name)
        except UnavailableError:
            raise
        except ServerError:
            return None
        flat = [part for pair in reply.items() for part in pair] if _is_map(reply) else reply
        found.update(zip(map(_decode, flat[::2]), map(_decode, flat[1::2]), strict=True))
    return found or None


def _pairs(reply: Reply) -> dict[str, str]:
    if _is_map(reply):
        return {str(name): str(value) for name, value in reply.items()}
    lines = _decode(reply).splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line and not line.startswith("#"))


def _is_map(reply: Reply) -> bool:
    return hasattr(reply, "items")


def _decode(value: Reply) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
