"""The fault matrix, its rows of processes: killed, told to stop, frozen, blocked."""

import asyncio
import signal
import time

import pytest

from echomq_worker.embedded import EmbeddedServer
from tests.faults.matrix.field import LEASE_S, RECOVERY_S
from tests.faults.matrix.fixtures import MakeField
from tests.faults.matrix.gate import Fate
from tests.faults.matrix.history import read_starts
from tests.faults.matrix.verdict import complaints


@pytest.mark.slow
@pytest.mark.case(
    "MX-F1-enqueue",
    "MX-F1-promote",
    "MX-F1-claim",
    "MX-F1-renew",
    "MX-F1-finish",
    "MX-F1-dead",
    "MX-F1-sweep",
    "MX-F1-drain",
)
@pytest.mark.parametrize("fate", Fate)
async def test_killed_at_any_moment(
    new_field: MakeField, private_server: EmbeddedServer, fate: Fate
):
    field = new_field(private_server.url)
    async with field.ready():
        if fate is not Fate.LOST:
            field.let_go(fate)
            await asyncio.sleep(0.02)
        for cell in field.cells:
            cell.victim.send(signal.SIGKILL)
        field.let_go(Fate.LOST)
        field.over()
        field.rescue()

        assert await complaints(field, within_s=RECOVERY_S, dies=True) == []


@pytest.mark.case(
    "MX-F2-waiting",
    "MX-F2-promote",
    "MX-F2-running",
    "MX-F2-renew",
    "MX-F2-retry",
    "MX-F2-dead",
    "MX-F2-drain",
    "MX-F2-tick",
)
@pytest.mark.parametrize("fate", Fate)
async def test_told_to_stop_at_any_moment(
    new_field: MakeField, private_server: EmbeddedServer, fate: Fate
):
    field = new_field(private_server.url)
    async with field.ready():
        for cell in field.cells:
            cell.victim.send(signal.SIGTERM)
        await asyncio.sleep(0.05)
        field.let_go(fate)
        field.over()
        rescuer = field.rescue()

        assert await complaints(field, within_s=RECOVERY_S, dies=True) == []

        given_back = field["running"]
        starts = [start for start in read_starts(field.notes) if start.job == given_back.job]
        assert [start.pid for start in starts] == [given_back.victim.pid, rescuer.pid]
        assert [cell.name for cell in field.cells if cell.victim.alive] == []


@pytest.mark.slow
@pytest.mark.case(
    "MX-F3-enqueue",
    "MX-F3-waiting",
    "MX-F3-claim",
    "MX-F3-running",
    "MX-F3-finish",
    "MX-F3-retry",
    "MX-F3-sweep",
    "MX-F3-tick",
)
async def test_frozen_for_three_leases(new_field: MakeField, private_server: EmbeddedServer):
    field = new_field(private_server.url)
    async with field.ready():
        for cell in field.cells:
            cell.victim.send(signal.SIGSTOP)
        field.let_go()
        field.rescue()
        await asyncio.sleep(3 * LEASE_S)
        for cell in field.cells:
            cell.victim.send(signal.SIGCONT)
        field.over()

        assert await complaints(field, within_s=RECOVERY_S, dies=True) == []

        frozen = field["running"].worker
        assert frozen is not None
        assert frozen.alive
        assert frozen.events("job.lease_lost") or frozen.events("job.refused")


@pytest.mark.slow
@pytest.mark.case(
    "MX-F18-enqueue",
    "MX-F18-waiting",
    "MX-F18-claim",
    "MX-F18-running",
    "MX-F18-finish",
    "MX-F18-retry",
    "MX-F18-sweep",
    "MX-F18-tick",
)
async def test_its_event_loop_blocked_for_three_leases(
    new_field: MakeField, private_server: EmbeddedServer
):
    field = new_field(private_server.url)
    async with field.ready():
        began = time.monotonic()
        field.block.write_text(str(3 * LEASE_S))
        await asyncio.sleep(0.1)
        field.let_go()
        field.over()
        rescuer = field.rescue()

        assert await complaints(field, within_s=3 * LEASE_S + 2, unread=True) == []

        assert time.monotonic() - began > 3 * LEASE_S
        starts = [start for start in read_starts(field.notes) if start.job == field["running"].job]
        assert rescuer.pid not in {start.pid for start in starts}
