"""Two faults at once. The marks say by whose laws the cells are judged: the harsher one's."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from tests.faults.matrix.field import LEASE_S, RECOVERY_S
from tests.faults.matrix.fixtures import MakeField
from tests.faults.matrix.gate import Fate
from tests.faults.matrix.verdict import complaints
from tests.support.load import meanwhile
from tests.support.moved_clock import HOUR_S, server_with_a_clock


@pytest.mark.slow
@pytest.mark.case("MX-F1-claim", "MX-F1-renew", "MX-F1-finish", "MX-F1-dead", "MX-F1-sweep")
async def test_workers_killed_while_the_server_forgets_its_scripts(
    new_field: MakeField, private_server: EmbeddedServer, admin: "redis.Redis"
):
    async def forget() -> None:
        admin.script_flush()

    field = new_field(private_server.url)
    async with field.ready(), meanwhile(forget, every_s=0.05, times=1_000):
        for cell in field.cells:
            cell.victim.send(signal.SIGKILL)
        field.let_go(Fate.LOST)
        field.over()
        field.rescue()

        assert await complaints(field, within_s=RECOVERY_S, dies=True) == []


@pytest.mark.slow
@pytest.mark.case("MX-F4-claim", "MX-F4-renew", "MX-F4-finish", "MX-F4-dead", "MX-F4-sweep")
async def test_replies_lost_while_the_memory_is_full(
    new_field: MakeField, private_server: EmbeddedServer, admin: "redis.Redis"
):
    field = new_field(private_server.url)
    async with field.ready():
        admin.config_set("maxmemory", 1)
        field.let_go(Fate.UNHEARD)
        await asyncio.sleep(LEASE_S)
        admin.config_set("maxmemory", 0)
        field.over()

        assert await complaints(field, within_s=2.0) == []


@pytest.mark.slow
@pytest.mark.case("MX-F6-waiting", "MX-F6-running", "MX-F6-finish", "MX-F6-retry", "MX-F6-sweep")
async def test_a_server_killed_while_the_loops_of_its_workers_are_blocked(
    new_field: MakeField, tmp_path: Path
):
    with EmbeddedServer(tmp_path / "data") as server:
        field = new_field(server.url)
        async with field.ready():
            await asyncio.to_thread(field.block.write_text, str(3 * LEASE_S))
            await asyncio.sleep(0.1)
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            field.let_go()
            await asyncio.to_thread(server.restart, hard=True)
            field.over()

            assert await complaints(field, within_s=3 * LEASE_S + 5, unread=True) == []


@pytest.mark.slow
@pytest.mark.case("MX-F1-claim", "MX-F1-renew", "MX-F1-finish", "MX-F1-dead", "MX-F1-sweep")
async def test_workers_killed_while_the_clock_of_the_server_jumps_ahead(
    new_field: MakeField, tmp_path: Path
):
    with server_with_a_clock(tmp_path) as (server, clock):
        field = new_field(server.url)
        async with field.ready():
            for cell in field.cells:
                cell.victim.send(signal.SIGKILL)
            clock.move(HOUR_S)
            field.let_go(Fate.LOST)
            field.over()
            field.rescue()

            assert await complaints(field, within_s=RECOVERY_S, dies=True) == []
