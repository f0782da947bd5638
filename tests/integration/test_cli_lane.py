"""`echomq lane`: the lanes of a queue, seen and handled from the shell."""

import pytest

from echomq_worker.cli.exit_codes import ExitCode
from echomq_worker.cli.lane import COLUMNS
from echomq_worker.domain.job import JobId, NewJob
from echomq_worker.domain.lanes import OnFull, lane_group
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.commands import Ask
from tests.support.jobs import A, B, C, D, claim, enqueue

ACME = lane_group("acme")


async def put(queue: QueueStore, lane: str, *ids: JobId) -> None:
    """Enqueue jobs to a lane."""
    await queue.enqueue([NewJob(id_, b"x", group=lane_group(lane), lane=lane) for id_ in ids])


async def test_a_list_shows_how_each_lane_stands(ask: Ask, queue: QueueStore, line: Line):
    await put(queue, "bolt", C)
    await put(queue, "acme", A, B)
    await queue.lanes.limit("acme", 1)
    await queue.lanes.weight("acme", 3)
    await queue.lanes.maximum("bolt", 9)
    await queue.lanes.pause("bolt", reason="unpaid")
    await claim(line)

    answer = await ask("lane", "list", "-q", queue.name)
    records = (await ask("lane", "list", "-q", queue.name, "--json")).records

    lines = answer.out.splitlines()
    assert lines[0].split() == [column.title for column in COLUMNS]
    assert lines[1].split() == ["acme", queue.name, "1", "1", "1", "3", "-", "at", "its", "limit"]
    assert lines[2].split() == ["bolt", queue.name, "1", "0", "-", "1", "9", "paused:", "unpaid"]
    assert [record["state"] for record in records] == ["full", "paused"]
    assert (records[0]["group"], records[0]["oldest"]) == (ACME, B)
    assert records[1]["on_full"] == "refuse"


async def test_a_long_list_is_cut_and_says_so(ask: Ask, queue: QueueStore):
    for n in range(3):
        await queue.lanes.pause(f"tenant-{n}")

    answer = await ask("lane", "list", "-q", queue.name, "--limit", "2")

    assert len(answer.out.splitlines()) == 3
    assert "... and more (--limit)" in answer.err


async def test_a_queue_without_lanes_says_so(ask: Ask, queue: QueueStore):
    await enqueue(queue, A)

    answer = await ask("lane", "list", "-q", queue.name)

    assert (answer.code, answer.out, answer.err) == (ExitCode.OK, "", "there are no lanes\n")


async def test_a_lane_is_shown_in_full(ask: Ask, queue: QueueStore):
    await put(queue, "acme", A, B)
    await queue.lanes.limit("acme", 4)
    await queue.lanes.maximum("acme", 9, OnFull.DROP_OLDEST)
    await queue.lanes.pause("acme", reason="unpaid", by="ann")

    answer = await ask("lane", "inspect", "acme", "-q", queue.name)
    (record,) = (await ask("lane", "inspect", "acme", "-q", queue.name, "--json")).records

    for part in ("0 of 4", "9 waiting, then drop-oldest", "paused: unpaid", "by ann", A, B, ACME):
        assert part in answer.out
    assert (record["paused_by"], record["waiting"], record["limit"]) == ("ann", 2, 4)
    assert record["paused_at"].endswith("Z")


async def test_a_lane_is_paused_and_resumed(ask: Ask, queue: QueueStore, line: Line):
    await put(queue, "acme", A)

    paused = await ask("lane", "pause", "acme", "-q", queue.name, "--reason", "unpaid")
    assert f"paused: lane acme in queue {queue.name}" in paused.err
    note = (await queue.lanes.inspect("acme")).paused
    assert note is not None
    assert note.reason == "unpaid"
    assert "@" in (note.by or "")
    assert await claim(line) == []

    resumed = await ask("lane", "resume", "acme", "-q", queue.name)
    again = await ask("lane", "resume", "acme", "-q", queue.name, "--json")
    assert "resumed" in resumed.err
    assert again.records[0]["outcome"] == "not paused"
    assert len(await claim(line)) == 1


@pytest.mark.parametrize(
    ("command", "key"), [("limit", "limit"), ("weight", "weight"), ("max", "maximum")]
)
async def test_a_number_is_set_and_taken_away(ask: Ask, queue: QueueStore, command: str, key: str):
    await put(queue, "acme", A)

    (told,) = (await ask("lane", command, "acme", "3", "-q", queue.name, "--json")).records
    assert told[key] == 3
    assert getattr(await queue.lanes.inspect("acme"), key) == 3

    await ask("lane", command, "acme", "none", "-q", queue.name)
    lifted = getattr(await queue.lanes.inspect("acme"), key)
    assert lifted == (1 if command == "weight" else None)


@pytest.mark.parametrize("number", ["0", "-1", "many", "1.5", "10000000000"])
async def test_what_is_no_number_from_1_is_refused(ask: Ask, queue: QueueStore, number: str):
    await put(queue, "acme", A)

    answer = await ask("lane", "limit", "-q", queue.name, "--", "acme", number)

    assert answer.code == ExitCode.USAGE
    assert "expected a whole number from 1" in answer.err
    assert (await queue.lanes.inspect("acme")).limit is None


@pytest.mark.parametrize("name", ["", "a b", "ü", "x" * 201])
async def test_a_name_that_no_lane_can_have_is_refused(ask: Ask, queue: QueueStore, name: str):
    answer = await ask("lane", "pause", name, "-q", queue.name)

    assert answer.code == ExitCode.USAGE
    assert "cannot name a lane" in answer.err


async def test_a_queue_that_is_not_there_is_named(ask: Ask):
    answer = await ask("lane", "pause", "acme", "-q", "no-such-queue")

    assert answer.code == ExitCode.NOT_FOUND
    assert "there is no queue 'no-such-queue'" in answer.err


async def test_a_lane_has_a_rate(ask: Ask, queue: QueueStore):
    await put(queue, "acme", A)

    (told,) = (await ask("lane", "rate", "acme", "5/10s", "-q", queue.name, "--json")).records
    refused = await ask("lane", "rate", "acme", "5", "-q", queue.name)
    (seen,) = (await ask("lane", "list", "-q", queue.name, "--json")).records

    assert told["rate"] == seen["rate"] == "5/10s burst 1"
    assert refused.code == ExitCode.USAGE
    assert "expected how many in how long" in refused.err
    await ask("lane", "rate", "acme", "none", "-q", queue.name)
    assert (await queue.lanes.inspect("acme")).rate is None


async def test_a_lane_goes_first_and_takes_its_turn_again(ask: Ask, queue: QueueStore):
    await put(queue, "acme", A)

    (told,) = (await ask("lane", "first", "acme", "-q", queue.name, "--json")).records
    assert (told["outcome"], (await queue.lanes.inspect("acme")).first) == ("first", True)
    assert "before others" in (await ask("lane", "inspect", "acme", "-q", queue.name)).out

    await ask("lane", "first", "acme", "--off", "-q", queue.name)
    assert not (await queue.lanes.inspect("acme")).first


async def test_a_job_is_reassigned(ask: Ask, queue: QueueStore, line: Line):
    await put(queue, "acme", A)
    await enqueue(queue, B, C)

    moved = await ask("lane", "reassign", A, "bolt", "-q", queue.name)
    again = await ask("lane", "reassign", A, "bolt", "-q", queue.name)
    flat = await ask("lane", "reassign", B, "bolt", "-q", queue.name, "--json")

    assert "reassigned" in moved.err
    assert "already" in again.err
    assert flat.records[0]["outcome"] == "reassigned"
    assert await queue.lanes.depth("bolt") == 2

    (running,) = await claim(line)
    refused = await ask("lane", "reassign", running.id, "acme", "-q", queue.name)
    absent = await ask("lane", "reassign", D, "acme", "-q", queue.name)
    assert (refused.code, absent.code) == (ExitCode.REFUSED, ExitCode.NOT_FOUND)
    assert "does not wait" in refused.err


async def test_a_lane_is_drained_only_if_somebody_says_so(ask: Ask, queue: QueueStore):
    await put(queue, "acme", A, B)
    await put(queue, "bolt", C)

    dry = await ask("lane", "drain", "acme", "-q", queue.name, "--dry-run", "--json")
    unasked = await ask("lane", "drain", "acme", "-q", queue.name)
    assert (dry.records[0]["outcome"], dry.records[0]["jobs"]) == ("would be drained", 2)
    assert unasked.code == ExitCode.REFUSED
    assert await queue.lanes.depth("acme") == 2

    done = await ask("lane", "drain", "acme", "-q", queue.name, "--yes")
    assert "drained: lane acme" in done.err
    assert "jobs 2" in done.err
    assert await queue.lanes.depths(["acme", "bolt"]) == {"acme": 0, "bolt": 1}
