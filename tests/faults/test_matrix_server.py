"""The fault matrix, its rows of the server: killed, emptied, loading, full, busy, read-only."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer, find_server_binary
from tests.faults.matrix.field import LEASE_S, Field
from tests.faults.matrix.fixtures import MakeField
from tests.faults.matrix.verdict import complaints
from tests.support.load import meanwhile

BACK_S = 5.0
"""How soon all is well after a server is back."""
SHORT_S = 2.0
"""How soon all is well after a server takes commands again."""
OUTAGE_S = 1.5
SPIN = """
local function ms() local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000 end
local start = ms()
while ms() - start < tonumber(ARGV[1]) do end
"""


@asynccontextmanager
async def struck(field: Field) -> AsyncGenerator[None]:
    """Let the held calls run into the fault inside the block, which ends with the fault."""
    field.let_go()
    yield
    field.over()
    if "drain" in field.codes:
        field.rescue("drain")


@pytest.mark.slow
@pytest.mark.case(
    "MX-F6-enqueue",
    "MX-F6-waiting",
    "MX-F6-claim",
    "MX-F6-running",
    "MX-F6-finish",
    "MX-F6-retry",
    "MX-F6-sweep",
    "MX-F6-tick",
)
async def test_killed_and_started_again(new_field: MakeField, tmp_path: Path):
    with EmbeddedServer(tmp_path / "data") as server:
        field = new_field(server.url)
        async with field.ready():
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            async with struck(field):
                await asyncio.to_thread(server.restart, hard=True)

            assert await complaints(field, within_s=BACK_S + LEASE_S) == []


@pytest.mark.slow
@pytest.mark.case(
    "MX-F7-enqueue",
    "MX-F7-promote",
    "MX-F7-claim",
    "MX-F7-renew",
    "MX-F7-finish",
    "MX-F7-dead",
    "MX-F7-sweep",
    "MX-F7-drain",
    "SRV-20",
)
@pytest.mark.parametrize("restarted", [True, False], ids=["started again", "flushed"])
async def test_emptied(
    new_field: MakeField, private_server: EmbeddedServer, admin: "redis.Redis", *, restarted: bool
):
    field = new_field(private_server.url)
    async with field.ready():
        for cell in field.cells:
            cell.others.clear()  # they were not durable either
        async with struck(field):
            if restarted:
                await asyncio.to_thread(private_server.restart, hard=True)
            else:
                admin.flushall()

        assert await complaints(field, within_s=BACK_S) == []


@pytest.mark.slow
@pytest.mark.case(
    "MX-F9-enqueue",
    "MX-F9-waiting",
    "MX-F9-claim",
    "MX-F9-running",
    "MX-F9-finish",
    "MX-F9-retry",
    "MX-F9-sweep",
    "MX-F9-tick",
)
async def test_read_only_for_a_while(
    new_field: MakeField, private_server: EmbeddedServer, admin: "redis.Redis"
):
    field = new_field(private_server.url)
    async with field.ready():
        admin.replicaof("127.0.0.1", "1")
        async with struck(field):
            await asyncio.sleep(LEASE_S / 2)
            admin.replicaof("NO", "ONE")

        assert await complaints(field, within_s=BACK_S) == []


@pytest.mark.slow
@pytest.mark.case(
    "MX-F10-enqueue",
    "MX-F10-promote",
    "MX-F10-claim",
    "MX-F10-renew",
    "MX-F10-finish",
    "MX-F10-dead",
    "MX-F10-sweep",
    "MX-F10-drain",
)
async def test_loading_for_a_while(new_field: MakeField, tmp_path: Path):
    program = tmp_path / "slow-to-load"
    delay = "--key-load-delay 500 --loading-process-events-interval-bytes 1024"
    program.write_text(f'#!/bin/sh\nexec "{find_server_binary()}" "$@" {delay}\n')
    program.chmod(0o700)
    with EmbeddedServer(tmp_path / "data", binary=program) as server:
        with redis.Redis.from_url(server.url) as client:
            client.mset({f"filler:{number}": "x" * 100 for number in range(1_200)})
            client.bgrewriteaof()
        field = new_field(server.url)
        async with field.ready():
            async with struck(field):
                await asyncio.to_thread(server.restart, hard=True)

            assert await complaints(field, within_s=SHORT_S + LEASE_S, unread=True) == []


@pytest.mark.slow
@pytest.mark.case(
    "MX-F11-waiting",
    "MX-F11-promote",
    "MX-F11-running",
    "MX-F11-renew",
    "MX-F11-retry",
    "MX-F11-dead",
    "MX-F11-drain",
    "MX-F11-tick",
)
async def test_its_memory_full_for_a_while(
    new_field: MakeField, private_server: EmbeddedServer, admin: "redis.Redis"
):
    field = new_field(private_server.url)
    async with field.ready():
        admin.config_set("maxmemory", 1)
        async with struck(field):
            await asyncio.sleep(OUTAGE_S)
            admin.config_set("maxmemory", 0)

        assert await complaints(field, within_s=SHORT_S) == []


@pytest.mark.case(
    "MX-F12-enqueue",
    "MX-F12-waiting",
    "MX-F12-claim",
    "MX-F12-running",
    "MX-F12-finish",
    "MX-F12-retry",
    "MX-F12-sweep",
    "MX-F12-tick",
)
async def test_forgetting_its_scripts_all_the_time(
    new_field: MakeField, private_server: EmbeddedServer, admin: "redis.Redis"
):
    async def forget() -> None:
        admin.script_flush()

    field = new_field(private_server.url)
    async with field.ready(), meanwhile(forget, every_s=0.05, times=1_000):
        await forget()
        async with struck(field):
            pass

        assert await complaints(field, within_s=SHORT_S) == []


@pytest.mark.slow
@pytest.mark.case(
    "MX-F13-enqueue",
    "MX-F13-promote",
    "MX-F13-claim",
    "MX-F13-renew",
    "MX-F13-finish",
    "MX-F13-dead",
    "MX-F13-sweep",
    "MX-F13-drain",
)
async def test_busy_with_a_script_of_somebody(
    new_field: MakeField, private_server: EmbeddedServer, admin: "redis.Redis"
):
    admin.config_set("busy-reply-threshold", 10)
    field = new_field(private_server.url)
    async with field.ready():
        spinning = asyncio.create_task(
            asyncio.to_thread(admin.eval, SPIN, 0, str(int(OUTAGE_S * 1_000)))
        )
        await asyncio.sleep(0.05)
        async with struck(field):
            await spinning

        assert await complaints(field, within_s=SHORT_S + LEASE_S, unread=True) == []


@pytest.mark.slow
@pytest.mark.case(
    "MX-F14-waiting",
    "MX-F14-promote",
    "MX-F14-running",
    "MX-F14-renew",
    "MX-F14-retry",
    "MX-F14-dead",
    "MX-F14-drain",
    "MX-F14-tick",
)
async def test_taking_no_writes_for_lack_of_replicas(
    new_field: MakeField, private_server: EmbeddedServer, admin: "redis.Redis"
):
    field = new_field(private_server.url)
    async with field.ready():
        admin.config_set("min-replicas-to-write", 1)
        async with struck(field):
            await asyncio.sleep(OUTAGE_S)
            admin.config_set("min-replicas-to-write", 0)

        assert await complaints(field, within_s=SHORT_S + LEASE_S) == []


@pytest.mark.case(
    "MX-F15-enqueue",
    "MX-F15-waiting",
    "MX-F15-claim",
    "MX-F15-running",
    "MX-F15-finish",
    "MX-F15-retry",
    "MX-F15-sweep",
    "MX-F15-tick",
)
async def test_at_its_limit_of_clients(
    new_field: MakeField, private_server: EmbeddedServer, admin: "redis.Redis"
):
    field = new_field(private_server.url)
    async with field.ready():
        admin.config_set("maxclients", len(admin.client_list()))
        async with struck(field):
            with suppress(redis.ConnectionError), redis.Redis.from_url(private_server.url) as more:
                assert not more.ping()
            await asyncio.sleep(OUTAGE_S / 2)
            admin.config_set("maxclients", 10_000)

        assert await complaints(field, within_s=SHORT_S) == []
