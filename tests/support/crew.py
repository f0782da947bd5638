"""Several real workers in the test's own process, and what their handlers have run."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from echomq_worker import EchoMQ, testing

PATIENCE_S = 15


@asynccontextmanager
async def crew(
    app: EchoMQ, url: str, count: int, *, queues: Sequence[str] | None = None, **settings: str
) -> AsyncGenerator[None]:
    """Let `count` workers run as long as the block lasts; settings are named as `LEASE`."""
    given = {f"ECHOMQ_{name}": value for name, value in settings.items()}
    async with AsyncExitStack() as workers:
        for _ in range(count):
            await workers.enter_async_context(
                testing.running_worker(app, url, queues=queues, settings=given)
            )
        yield


async def wait_for(holds: Callable[[], object]) -> None:
    """Wait until something holds; fail if it does not in good time."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - what the workers do sets no event of ours
            await asyncio.sleep(0.005)
