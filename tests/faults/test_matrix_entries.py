"""The fault matrix, its row of broken entries: the row of a job is gone, or is no row."""

import asyncio

import pytest

from echomq_worker.embedded import EmbeddedServer
from tests.faults.matrix.field import LEASE_S
from tests.faults.matrix.fixtures import MakeField
from tests.faults.matrix.verdict import complaints

SWEEP_S = LEASE_S + 1
"""How soon a lease without a row is found: when it has run out."""


@pytest.mark.case(
    "MX-F19-promote",
    "MX-F19-claim",
    "MX-F19-renew",
    "MX-F19-finish",
    "MX-F19-dead",
    "MX-F19-sweep",
    "MX-F19-drain",
)
@pytest.mark.parametrize("put_instead", [False, True], ids=["missing", "of another type"])
async def test_a_row_that_breaks_at_any_moment(
    new_field: MakeField, private_server: EmbeddedServer, *, put_instead: bool
):
    field = new_field(private_server.url)
    async with field.ready():
        for cell in field.cells:
            row = cell.look.keys.job(cell.job)
            await cell.look.do("DEL", row)
            if put_instead:
                await cell.look.do("SET", row, "no row")
        field.let_go()
        field.over()
        field.rescue("drain")

        assert await complaints(field, within_s=SWEEP_S) == []

        async with asyncio.timeout(SWEEP_S + 1):
            for cell in field.cells:
                while not (aside := await cell.look.quarantine()):  # noqa: ASYNC110 - no event
                    await asyncio.sleep(0.05)
                assert [entry["id"] for entry in aside] == [cell.job], cell.name
                assert aside[0]["reason"]
                assert (await cell.queue.counts()).completed == len(cell.others)
