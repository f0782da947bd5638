"""A first job: `echomq run examples.hello:app` runs it, `python -m examples.hello` asks for it."""

import asyncio
from itertools import count

from echomq_worker import EchoMQ

app = EchoMQ()


@app.job("hello.greet")
async def greet(name: str) -> str:
    """Say hello."""
    return f"Hello, {name}!"


async def main() -> None:
    """Enqueue a greeting each second, for ever."""
    for number in count(1):
        await app.enqueue(greet, name=f"visitor {number}")
        await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(main())
