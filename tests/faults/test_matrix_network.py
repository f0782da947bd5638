"""The fault matrix, its rows of connections: cut, silent, slow; and entries that are broken."""

import asyncio

import pytest

from echomq_worker.embedded import EmbeddedServer
from tests.faults.matrix.field import LEASE_S, RECOVERY_S
from tests.faults.matrix.fixtures import MakeField
from tests.faults.matrix.gate import Fate
from tests.faults.matrix.verdict import complaints

SLOW_S = 0.03
"""As much of the lease here as 200 ms are of the default lease of 10 s."""


@pytest.mark.case(
    "MX-F4-enqueue",
    "MX-F4-promote",
    "MX-F4-claim",
    "MX-F4-renew",
    "MX-F4-finish",
    "MX-F4-dead",
    "MX-F4-sweep",
    "MX-F4-drain",
)
async def test_cut_after_the_server_has_done_what_was_asked(
    new_field: MakeField, private_server: EmbeddedServer
):
    field = new_field(private_server.url)
    async with field.ready():
        field.let_go(Fate.UNHEARD)
        field.over()
        field.rescue("drain")

        # Not even a claim whose reply is lost waits for its lease to run out.
        assert await complaints(field, within_s=2.0) == []
        lost = [e.id for e in await field["claim"].queue.log() if e.event == "recovered"]
        assert lost == []


@pytest.mark.slow
@pytest.mark.case(
    "MX-F5-waiting",
    "MX-F5-promote",
    "MX-F5-running",
    "MX-F5-renew",
    "MX-F5-retry",
    "MX-F5-dead",
    "MX-F5-drain",
    "MX-F5-tick",
)
async def test_a_black_hole_between_a_worker_and_the_server(
    new_field: MakeField, private_server: EmbeddedServer
):
    field = new_field(private_server.url)
    async with field.ready():
        for cell in field.cells:
            cell.gate.deaf = True
        field.let_go()
        field.rescue()
        await asyncio.sleep(3 * LEASE_S)
        for cell in field.cells:
            cell.gate.deaf = False
        field.over()

        assert await complaints(field, within_s=RECOVERY_S, dies=True) == []

        running = field["running"].worker
        assert running is not None
        assert running.alive


@pytest.mark.slow
@pytest.mark.case(
    "MX-F20-waiting",
    "MX-F20-promote",
    "MX-F20-running",
    "MX-F20-renew",
    "MX-F20-retry",
    "MX-F20-dead",
    "MX-F20-drain",
    "MX-F20-tick",
)
@pytest.mark.parametrize("fate", Fate)
async def test_a_slow_network_that_resets_connections(
    new_field: MakeField, private_server: EmbeddedServer, fate: Fate
):
    field = new_field(private_server.url)
    async with field.ready():
        for cell in field.cells:
            cell.gate.delay_s = SLOW_S
        field.let_go(fate)
        field.over()
        field.rescue("drain")

        # Each job takes a handful of round trips, one of which is lost.
        assert await complaints(field, within_s=2.0 + LEASE_S) == []
