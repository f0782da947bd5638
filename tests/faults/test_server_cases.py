"""Servers that forget scripts, cannot save, or have far more to do than one call may take."""

import asyncio
from pathlib import Path

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer, find_server_binary
from echomq_worker.errors import UnavailableError
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from tests.faults.test_broken_server import assert_all_done_once
from tests.support.jobs import A, claim, job_id, new_job
from tests.support.load import Load
from tests.support.look import Look, looking_at
from tests.support.private import QUEUE

MANY = 9_000
"""More than Lua unpacks at once."""
A_CALL = 1_000
"""The most that one call takes."""


@pytest.mark.case("SRV-02")
async def test_a_batch_after_the_scripts_were_flushed_goes_in_whole(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A)])
    await look.do("SCRIPT", "FLUSH", "SYNC")

    admissions = await queue.enqueue([new_job(job_id(number)) for number in range(1, 101)])

    assert admissions == ["enqueued"] * 100
    assert len((await look.places())["pending"]) == 101


@pytest.mark.case("SRV-14", "SRV-15")
async def test_no_call_takes_more_than_a_thousand_however_much_there_is(
    queue: QueueStore, line: Line, look: Look
):
    for first in range(0, MANY, A_CALL):
        await queue.enqueue([new_job(job_id(first + n), at_ms=1) for n in range(A_CALL)])

    assert (await queue.promote(MANY)).moved == A_CALL
    while (await queue.promote(MANY)).moved:
        pass
    held = [job.id for job in await claim(line, A_CALL)]
    while len(held) < MANY:
        held += [job.id for job in await claim(line, A_CALL)]
    assert held == [job_id(number) for number in range(MANY)]
    long_ago = [word for job in held for word in (1, job)]
    await look.do("ZADD", look.keys.active, "XX", *long_ago)
    assert len((await queue.reap(MANY)).recovered) == A_CALL
    await look.do("UNLINK", *await look.key_names())


@pytest.mark.case("SRV-08")
async def test_a_server_that_cannot_save_is_waited_for(tmp_path: Path):
    folder = tmp_path / "saves"
    folder.mkdir()
    program = tmp_path / "saver"
    options = "--enable-protected-configs yes --stop-writes-on-bgsave-error yes"
    program.write_text(f'#!/bin/sh\nexec "{find_server_binary()}" "$@" {options}\n')
    program.chmod(0o700)
    with EmbeddedServer(binary=program) as own, redis.Redis.from_url(own.url) as admin:
        async with (
            Server(ServerOptions(url=own.url, give_up_ms=200)) as hasty,
            Server(ServerOptions(url=own.url)) as patient,
        ):
            admin.config_set("dir", str(folder))
            folder.rmdir()
            admin.config_set("save", "3600 1")  # else a failed save stops no writes
            await fail_to_save(admin)
            with pytest.raises(UnavailableError, match="MISCONF"):
                await hasty.queue(QUEUE).enqueue([new_job(A)])
            load = Load(patient.queue(QUEUE), 50)
            running = asyncio.create_task(load.run())
            await asyncio.sleep(0.1)
            assert load.completed.total() == 0
            admin.config_set("save", "")
            await running
            async with looking_at(own.url, QUEUE) as look:
                await assert_all_done_once(load, look)


async def fail_to_save(admin: "redis.Redis") -> None:
    """Let a snapshot fail."""
    admin.bgsave()
    async with asyncio.timeout(10):
        while "bgsave_status': 'err'" not in str(admin.info("persistence")):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.case("ORD-01")
async def test_jobs_of_the_same_millisecond_run_in_the_order_of_their_enqueue(
    queue: QueueStore, line: Line
):
    for first in range(0, 300, 3):
        await queue.enqueue([new_job(job_id(first + n)) for n in range(3)])

    assert [job.id for job in await claim(line, 300)] == [job_id(n) for n in range(300)]
