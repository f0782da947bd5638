"""`echomq job priority` and `job move`, `queue order`, and what a job may say about its place."""

import pytest

from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Completed
from echomq_worker.store import Order, QueueStore
from echomq_worker.store.line import Line
from tests.support.commands import Ask
from tests.support.jobs import A, B, C, claim, claim_one, enqueue, job_id, new_job, settle
from tests.support.look import Look

FAR_MS = 4_000_000_000_000


async def prioritized(look: Look) -> dict[str, int]:
    return await look.scores(f"{look.keys.root}prioritized")


@pytest.mark.parametrize("number", ["-5", "-10", "7", "-1048576", "1048576"])
async def test_a_job_gets_another_priority(ask: Ask, queue: QueueStore, look: Look, number: str):
    await enqueue(queue, A)

    answer = await ask("job", "priority", A, number, "-q", queue.name)

    told = f"job {A} in queue {queue.name} has priority {number}\n"
    assert (answer.code, answer.out, answer.err) == (0, "", told)
    assert await prioritized(look) == {A: int(number) * 2**32 + 1}


async def test_a_program_reads_what_came_of_it(ask: Ask, queue: QueueStore):
    await queue.enqueue([new_job(A, at_ms=FAR_MS), new_job(B)])

    later = await ask("job", "priority", A, "-3", "--json", "-q", queue.name)
    now = await ask("job", "priority", B, "0", "--json")

    record = {"id": A, "queue": queue.name, "outcome": "not_waiting", "priority": -3}
    assert (later.code, later.records) == (0, [record])
    assert (now.code, now.records) == (0, [record | {"id": B, "outcome": "ok", "priority": 0}])


async def test_a_person_reads_that_it_holds_later(ask: Ask, queue: QueueStore):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])

    answer = await ask("job", "priority", A, "4", "-q", queue.name)

    assert answer.err == f"job {A} in queue {queue.name} has priority 4 as soon as it waits\n"


@pytest.mark.parametrize("number", ["1048577", "-1048577", "1.5", "high"])
async def test_what_is_no_priority_is_refused(ask: Ask, queue: QueueStore, number: str):
    await enqueue(queue, A)

    answer = await ask("job", "priority", A, number, "-q", queue.name)

    assert answer.code == 2
    assert "a whole number" in answer.err or "not a valid integer" in answer.err
    view = await queue.inspect(A)
    assert view is not None
    assert view.priority == 0


async def test_a_job_of_a_lane_gets_no_priority(ask: Ask, queue: QueueStore):
    await ask("job", "enqueue", "x", "--id", A, "--lane", "acme", "-q", queue.name)

    answer = await ask("job", "priority", A, "-3", "-q", queue.name)

    assert answer.code == 5
    assert "belongs to a lane" in answer.err


async def test_a_job_that_is_gone_is_not_found(ask: Ask, queue: QueueStore):
    await enqueue(queue, A)
    for verb in (("priority", C, "1"), ("move", C, "--lane", "acme")):
        answer = await ask("job", *verb, "-q", queue.name)
        assert answer.code == 3, answer


async def test_a_waiting_job_is_moved_to_a_lane(ask: Ask, queue: QueueStore, look: Look):
    await ask("job", "enqueue", "x", "--id", A, "--priority", "-2", "-q", queue.name)

    answer = await ask("job", "move", A, "--lane", "acme", "-q", queue.name)
    again = await ask("job", "move", A, "--lane", "acme", "--json", "-q", queue.name)

    assert answer.err == f"job {A} in queue {queue.name} waits in lane acme\n"
    assert again.records == [
        {"id": A, "queue": queue.name, "outcome": "noop", "lane": "acme"},
    ]
    assert await look.members(look.keys.lane(lane_group("acme"))) == [A]
    assert await prioritized(look) == {}


async def test_a_job_that_runs_is_not_moved(ask: Ask, queue: QueueStore, line: Line):
    await enqueue(queue, A)
    held = await claim_one(line)

    answer = await ask("job", "move", A, "--lane", "acme", "-q", queue.name)

    assert answer.code == 5
    assert "it does not wait to be claimed" in answer.err
    await settle(line, held, Completed())


async def test_a_lane_that_cannot_be_named_is_refused(ask: Ask, queue: QueueStore):
    await enqueue(queue, A)
    for verb in (("move", A), ("enqueue", "x", "--id", B)):
        answer = await ask("job", *verb, "--lane", "a b", "-q", queue.name)
        assert answer.code == 2
        assert "cannot name a lane" in answer.err


async def test_a_job_is_enqueued_with_a_priority_and_inspect_shows_it(ask: Ask, queue: QueueStore):
    words = ("job", "enqueue", "x", "--id", A, "--priority", "-9", "-q", queue.name)
    assert (await ask(*words)).code == 0

    (record,) = (await ask("job", "inspect", A, "--json")).records
    person = await ask("job", "inspect", A)

    assert (record["priority"], record["lane"], record["state"]) == (-9, None, "pending")
    assert ["priority", "-9"] in [line.split() for line in person.out.splitlines()]


async def test_a_job_is_enqueued_to_a_lane_and_inspect_shows_it(ask: Ask, queue: QueueStore):
    words = ("job", "enqueue", "x", "--id", A, "--lane", "acme", "-q", queue.name)
    assert (await ask(*words)).code == 0

    (record,) = (await ask("job", "inspect", A, "--json")).records

    assert (record["lane"], record["group"]) == ("acme", lane_group("acme"))
    assert record["state"] == "pending"


async def test_a_lane_and_a_priority_are_one_too_many(ask: Ask, queue: QueueStore, look: Look):
    words = ("job", "enqueue", "x", "--priority", "3", "--lane", "acme", "-q", queue.name)

    answer = await ask(*words)

    assert answer.code == 2
    assert "both lane and priority are given" in answer.err
    assert await look.key_names() == []


async def test_the_order_of_a_queue_is_shown_and_put(ask: Ask, queue: QueueStore, line: Line):
    for number in (2, 1, 0):
        await queue.enqueue([new_job(job_id(number))])
        await queue.reprioritize([job_id(number)], 5)

    shown = await ask("queue", "order", queue.name, "--json")
    changed = await ask("queue", "order", queue.name, "mint")

    assert shown.records == [{"queue": queue.name, "order": "arrival"}]
    assert changed.code == 0
    assert "those that were made first run first (mint)" in changed.err
    assert await queue.order() is Order.MINT
    assert [job.id for job in await claim(line, 3)] == [job_id(0), job_id(1), job_id(2)]


async def test_an_order_that_is_none_and_a_queue_that_is_not_there_are_refused(
    ask: Ask, queue: QueueStore
):
    await enqueue(queue, A)

    assert (await ask("queue", "order", queue.name, "random")).code == 2
    assert (await ask("queue", "order", queue.name + "x", "mint")).code == 3
    assert await queue.order() is Order.ARRIVAL
