"""Asks a server that may be away for a while, up to a deadline."""

import asyncio
from collections.abc import Awaitable, Callable

from echomq_worker.errors import OutOfMemoryError, UnavailableError
from echomq_worker.store.translate import UnreachableError
from echomq_worker.store.wire import Reply

Ask = Callable[[str], Awaitable[Reply]]
"""Asks once; told "1" if it was asked before, as receipts want to know it, else "0"."""
_FIRST_WAIT_S = 0.02
_LONGEST_WAIT_S = 1.0


async def ask_until(ask: Ask, give_up_ms: int) -> Reply:
    """Ask what is safe to ask again until there is an answer, for at most `give_up_ms`.

    Args:
        ask: asks once.
        give_up_ms: how long to go on, in ms.

    Raises:
        UnavailableError: if there was no answer in time. One of a kind other than
            `UnreachableError` means that the outcome is not known.
        ServerError: if the server refused.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + give_up_ms / 1000
    again, wait_s = "0", _FIRST_WAIT_S
    unanswered: UnavailableError | None = None
    while True:
        try:
            return await ask(again)
        except OutOfMemoryError as error:
            if unanswered is None:
                raise
            # This try changed nothing. An earlier one may have, or may come late.
            raise unanswered from error
        except UnavailableError as error:
            if not isinstance(error, UnreachableError):
                unanswered = error
            if loop.time() + wait_s > deadline:
                if unanswered is None or unanswered is error:
                    raise
                # That nobody is there now does not say what became of an earlier try.
                raise unanswered from error
            again = "1"
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)
