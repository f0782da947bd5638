"""The proxies: `python -m tests.chaos.relay URL COUNT` says their URLs, then takes orders.

An order is a line on standard input: the proxy's number, then `deaf`, `down`, `slow SECONDS`,
`cut` (closes every connection, once) or `well` (back to normal).
"""

import asyncio
import sys

from tests.support.proxy import Proxy


async def main() -> None:
    """Relay until standard input ends."""
    url, count = sys.argv[1], int(sys.argv[2])
    proxies = [Proxy(url) for _ in range(count)]
    for proxy in proxies:
        await proxy.__aenter__()
    sys.stdout.write(" ".join(proxy.url for proxy in proxies) + "\n")
    sys.stdout.flush()
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        number, word, *rest = line.split()
        obey(proxies[int(number)], word, rest)


def obey(proxy: Proxy, word: str, rest: list[str]) -> None:
    """Do what an order says."""
    match word:
        case "deaf":
            proxy.deaf = True
        case "slow":
            proxy.delay_s = float(rest[0])
        case "down":
            proxy.go_down()
        case "cut":
            proxy.go_down()
            proxy.come_up()
        case "well":
            proxy.deaf, proxy.delay_s = False, 0.0
            proxy.come_up()
        case _:
            msg = f"no such order: {word}"
            raise ValueError(msg)


if __name__ == "__main__":
    asyncio.run(main())
