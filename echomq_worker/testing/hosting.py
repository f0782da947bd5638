"""A context manager in a task of its own."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def in_a_task_of_its_own(block: AbstractAsyncContextManager[T]) -> AsyncGenerator[T]:
    """Enter and leave `block` in one task, whichever tasks enter and leave this one.

    pytest may set a fixture up in one task and tear it down in another, and what is built on
    cancel scopes refuses that.
    """
    entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    leave = asyncio.Event()

    async def host() -> None:
        async with block as value:
            entered.set_result(value)
            await leave.wait()

    task = asyncio.create_task(host())
    try:
        await asyncio.wait((task, entered), return_when=asyncio.FIRST_COMPLETED)
        if entered.done():
            yield entered.result()
    finally:
        leave.set()
        if not entered.done():
            task.cancel()
            entered.cancel()
        await task
