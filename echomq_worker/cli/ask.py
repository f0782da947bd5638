"""Asking the server: connect, ask, disconnect."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from echomq_worker.backend import server_options
from echomq_worker.cli.session import Session
from echomq_worker.store import Server

T = TypeVar("T")


def ask(session: Session, question: Callable[[Server], Awaitable[T]]) -> T:
    """Return the answer to a question that needs the server of the settings.

    Raises:
        ServerError: if the server refuses, or cannot be reached.
        EchoMQError: whatever the question raises.
    """

    async def asked() -> T:
        async with Server(server_options(session.settings)) as server:
            return await question(server)

    return asyncio.run(asked())
