"""`echomq dead`: looking at dead jobs, bringing them back, and removing them."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence

import pytest
import redis

from echomq_worker.domain.failures import Failure, remember
from echomq_worker.domain.job import JobId, State
from echomq_worker.domain.outcome import Buried
from echomq_worker.store import QueueStore, Server
from tests.support.commands import Ask
from tests.support.jobs import A, B, C, claim_one, enqueue, new_job, settle
from tests.support.least_rights import unrestricted
from tests.support.stores import NewLine, no_trouble

Bury = Callable[..., Awaitable[None]]

HISTORY = remember(
    None,
    Failure(attempt=1, type="ValueError", message="no good", at_ms=1_704_067_200_000, worker="w:1"),
)


@pytest.fixture
def bury(new_line: NewLine, queue: QueueStore) -> Bury:
    """Let jobs die in the test's queue."""

    async def dig(*ids: JobId) -> None:
        line = new_line()
        for id_ in ids:
            await queue.enqueue([new_job(id_, name="email.send", max_attempts=3)])
            await settle(line, await claim_one(line), Buried("ValueError: no good", HISTORY))

    return dig


async def states(queue: QueueStore, ids: Sequence[JobId]) -> list[State | None]:
    views = [await queue.inspect(id_) for id_ in ids]
    return [None if view is None else view.state for view in views]


async def test_the_dead_are_listed_the_latest_first(ask: Ask, queue: QueueStore, bury: Bury):
    await bury(A, B)

    table = await ask("dead", "list")
    records = (await ask("dead", "list", "-q", queue.name, "--json")).records

    assert [record["id"] for record in records] == [B, A]
    assert records[0]["error"] == "ValueError: no good"
    assert (records[0]["attempts"], records[0]["max_attempts"]) == (1, 3)
    assert table.out.splitlines()[1].split()[:3] == [B, queue.name, "email.send"]
    assert " 1/3 " in table.out


async def test_a_long_list_is_cut_and_says_so(ask: Ask, queue: QueueStore, bury: Bury):
    await bury(A, B, C)

    answer = await ask("dead", "list", "-q", queue.name, "--limit", "2")
    ids = await ask("dead", "list", "-q", queue.name, "--limit", "2", "--ids")
    rows = await ask("dead", "list", "-q", queue.name, "--limit", "2", "--json")

    assert len(answer.out.splitlines()) == 3
    assert (ids.out, len(rows.records)) == (f"{C}\n{B}\n", 2)
    for each in (answer, ids, rows):
        assert "... 1 more (--limit)" in each.err


async def test_ids_are_all_listed_unless_a_limit_is_given(
    ask: Ask, queue: QueueStore, bury: Bury, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("echomq_worker.cli.dead.USUAL_LIMIT", 1)
    await bury(A, B, C)

    answer = await ask("dead", "list", "-q", queue.name, "--ids")

    assert (answer.out, answer.err) == (f"{C}\n{B}\n{A}\n", "")


@pytest.fixture
def junk(queue: QueueStore, server_url: str) -> str:
    """Put something among the queue's dead that is no id."""
    with redis.Redis.from_url(unrestricted(server_url)) as client:
        for member in (b"junk", b"\xff"):
            client.zadd(f"emq:{{{queue.name}}}:dead", {member: 0})
    return "junk"


@pytest.mark.broken_state("no ids lie among the dead")
async def test_what_is_no_id_among_the_dead_is_told_and_not_counted_as_more(
    ask: Ask, queue: QueueStore, bury: Bury, junk: str
):
    await bury(A)

    table = await ask("dead", "list", "-q", queue.name)
    ids = await ask("dead", "list", "-q", queue.name, "--ids")

    assert "more" not in table.err
    assert f"'{junk}' among its dead" in table.err
    assert ids.out == f"{A}\n"


@pytest.mark.broken_state("no ids lie among the dead")
@pytest.mark.parametrize(
    ("words", "end"),
    [(("requeue", "--all"), State.PENDING), (("remove", "--all", "--yes"), None)],
)
async def test_what_is_no_id_among_the_dead_fails_alone(
    words: tuple[str, ...],
    end: State | None,
    ask: Ask,
    queue: QueueStore,
    bury: Bury,
    junk: str,
):
    await bury(A, B)

    foretold = await ask("dead", *words, "-q", queue.name, "--dry-run")
    answer = await ask("dead", *words, "-q", queue.name)
    again = await ask("dead", *words, "-q", queue.name, "--json")

    assert (foretold.code, answer.code, again.code) == (4, 4, 4)
    assert f"{junk}: malformed id" in foretold.err
    assert f"{junk}: malformed id" in answer.err
    assert "2 of 4 jobs" in answer.err
    assert again.records[-1]["outcome"] == "malformed_id"
    assert await states(queue, [A, B]) == [end] * 2


async def test_no_dead_jobs_is_no_failure(ask: Ask, queue: QueueStore):
    await enqueue(queue, A)

    answer = await ask("dead", "list", "-q", queue.name)

    assert (answer.code, answer.out, answer.err) == (0, "", "no dead jobs\n")


async def test_listed_ids_can_be_piped_into_requeue(ask: Ask, queue: QueueStore, bury: Bury):
    await bury(A, B, C)

    listed = await ask("dead", "list", "--ids")
    answer = await ask("dead", "requeue", "-", given=listed.out)

    assert answer.code == 0
    assert "3 of 3 jobs requeued" in answer.err
    assert await states(queue, [A, B, C]) == [State.PENDING] * 3


async def test_all_means_all_of_the_queue_that_is_named(
    ask: Ask,
    queue: QueueStore,
    server: Server,
    new_queue_name: Callable[[], str],
    bury: Bury,
):
    await bury(A, B)
    other = server.queue(new_queue_name())
    await enqueue(other, C)
    line = other.line(trouble=no_trouble)
    await settle(line, await claim_one(line), Buried("x"))
    await line.aclose()

    answer = await ask("dead", "requeue", "--all", "-q", queue.name, "--json")

    assert {record["id"]: record["outcome"] for record in answer.records} == {A: "ok", B: "ok"}
    assert await states(other, [C]) == [State.DEAD]


async def test_what_is_not_dead_is_told_and_the_others_are_done(
    ask: Ask, queue: QueueStore, bury: Bury
):
    await bury(A)
    await enqueue(queue, B)

    some = await ask("dead", "requeue", A, B)
    none = await ask("dead", "requeue", B, C)

    assert (some.code, none.code) == (4, 3)
    assert f"{B}: not dead" in some.err
    assert await states(queue, [A, B]) == [State.PENDING] * 2


async def test_removing_needs_a_yes_where_nobody_can_be_asked(
    ask: Ask, queue: QueueStore, bury: Bury
):
    await bury(A, B)

    refused = await ask("dead", "remove", "--all")
    assert refused.code == 5
    assert "Remove 2 dead jobs for good?" in refused.err
    assert "--yes" in refused.err
    assert await states(queue, [A, B]) == [State.DEAD] * 2

    done = await ask("dead", "remove", A, "--yes")
    assert done.code == 0
    assert await states(queue, [A, B]) == [None, State.DEAD]


async def test_on_a_terminal_the_answer_decides(
    ask: Ask, queue: QueueStore, bury: Bury, monkeypatch: pytest.MonkeyPatch
):
    await bury(A)
    monkeypatch.setattr("echomq_worker.cli.ask_back.asks_on_terminal", lambda: True)

    no = await ask("dead", "remove", "--all", given="n\n")
    assert no.code == 1
    assert await states(queue, [A]) == [State.DEAD]

    yes = await ask("dead", "remove", "--all", given="y\n")
    assert yes.code == 0
    assert await states(queue, [A]) == [None]


async def test_ctrl_c_at_the_question_stops_at_once(
    ask: Ask, queue: QueueStore, bury: Bury, server_url: str
):
    await bury(A)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603, ASYNC220 - our own program
        [sys.executable, "-m", "echomq_worker", "dead", "remove", A, "-q", queue.name],
        stdin=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "ECHOMQ_REDIS_URL": server_url},
    )
    assert process.stderr is not None
    said = b""
    while b"[y/N]" not in said:
        more = os.read(process.stderr.fileno(), 4_096)
        assert more, said
        said += more
    time.sleep(0.2)  # noqa: ASYNC251 - until it reads
    process.send_signal(signal.SIGINT)

    try:
        assert process.wait(5) == 130
    finally:
        process.kill()
        process.communicate()
        os.close(ours)
        os.close(theirs)
    assert await states(queue, [A]) == [State.DEAD]


@pytest.mark.parametrize("verb", ["requeue", "remove"])
async def test_a_dry_run_changes_nothing(verb: str, ask: Ask, queue: QueueStore, bury: Bury):
    await bury(A)

    answer = await ask("dead", verb, "--all", "--dry-run", "--json")
    partly = await ask("dead", verb, A, B, "--dry-run")

    assert [(record["id"], record["queue"]) for record in answer.records] == [(A, queue.name)]
    assert partly.code == 4
    assert await states(queue, [A]) == [State.DEAD]


@pytest.mark.parametrize("words", [(), ("--all", A), ("JOB1",)])
async def test_ids_or_all_must_be_said(words: tuple[str, ...], ask: Ask):
    answer = await ask("dead", "requeue", *words)

    assert answer.code == 2


async def test_nothing_to_requeue_is_no_failure(ask: Ask, queue: QueueStore):
    await enqueue(queue, A)

    answer = await ask("dead", "requeue", "--all", "-q", queue.name)

    assert answer.code == 0
    assert "0 of 0 jobs requeued" in answer.err


async def test_inspect_tells_the_story_of_a_dead_job(ask: Ask, queue: QueueStore, bury: Bury):
    await bury(A)

    text = (await ask("job", "inspect", A, "-q", queue.name)).out
    (record,) = (await ask("job", "inspect", A, "-q", queue.name, "--json")).records

    assert "attempt 1" in text
    assert "on w:1: ValueError: no good" in text
    assert record["failures"][0]["at"] == "2024-01-01T00:00:00.000Z"
