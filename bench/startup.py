"""How soon a worker that is started claims its first job: `python -m bench.startup`."""

import argparse
import asyncio
import time

from bench.bed import QUEUE, Bed, bed
from bench.jobs import nothing
from bench.table import Row, print_table
from echomq_worker.demo.lateness import percentile

PATIENCE_S = 20.0


async def measure(bed: Bed, rounds: int) -> list[Row]:
    """Time from the start of the process to the claim of a job that waits, by the server's log."""
    times: list[float] = []
    for _ in range(1 + rounds):
        job_id = (await nothing.enqueue()).id
        began_ms = time.time_ns() / 1e6
        process = bed.start(ECHOMQ_LOG_EVENTS="10000")
        try:
            times.append(await _claimed_ms(bed, job_id) - began_ms)
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, 30)
    del times[0]  # the first one compiles what later ones find compiled, as an installation has it
    return [
        Row(f"start to first claim p50 ({rounds} starts)", percentile(times, 50), "ms", 500),
        Row("start to first claim max", max(times), "ms"),
    ]


async def _claimed_ms(bed: Bed, job_id: str) -> int:
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        for entry in await bed.server.queue(QUEUE).log(limit=10_000):
            if entry.event == "claimed" and entry.id == job_id:
                return entry.at_ms
        await asyncio.sleep(0.05)
    msg = f"job {job_id} was not claimed: {bed.log()}"
    raise RuntimeError(msg)


async def main(rounds: int = 10) -> None:
    """Measure and print."""
    async with bed() as made:
        print_table("Start of a worker", await measure(made, rounds))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    asyncio.run(main(parser.parse_args().rounds))
