"""The fault matrix, its rows of the server's clock, which jumps an hour ahead or back."""

from pathlib import Path

import pytest

from tests.faults.matrix.field import LEASE_S, RECOVERY_S
from tests.faults.matrix.fixtures import MakeField
from tests.faults.matrix.verdict import complaints
from tests.support.moved_clock import HOUR_S, server_with_a_clock


@pytest.mark.case(
    "SRV-09",
    "MX-F16-enqueue",
    "MX-F16-promote",
    "MX-F16-claim",
    "MX-F16-renew",
    "MX-F16-finish",
    "MX-F16-dead",
    "MX-F16-sweep",
    "MX-F16-drain",
)
async def test_an_hour_ahead(new_field: MakeField, tmp_path: Path):
    with server_with_a_clock(tmp_path) as (server, clock):
        field = new_field(server.url)
        async with field.ready():
            clock.move(HOUR_S)
            field.let_go()
            field.over()
            field.rescue("drain")

            assert await complaints(field, within_s=RECOVERY_S) == []


@pytest.mark.case(
    "SRV-09",
    "MX-F17-waiting",
    "MX-F17-promote",
    "MX-F17-running",
    "MX-F17-renew",
    "MX-F17-retry",
    "MX-F17-dead",
    "MX-F17-drain",
    "MX-F17-tick",
)
async def test_an_hour_back(new_field: MakeField, tmp_path: Path):
    with server_with_a_clock(tmp_path) as (server, clock):
        field = new_field(server.url)
        async with field.ready():
            clock.move(-HOUR_S)
            field.let_go()
            field.over()
            field.rescue("drain")
            waiting = field["waiting"]
            await waiting.look.make_due(waiting.job)  # else it is late by the jump

            assert await complaints(field, within_s=LEASE_S + 2) == []
