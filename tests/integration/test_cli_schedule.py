"""`echomq schedule`: what is made again and again, seen and handled from the shell."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from echomq_worker import EchoMQ
from echomq_worker.cli.words import rfc3339
from echomq_worker.domain.job import JobId, State
from echomq_worker.domain.scheduling.records import SchedulerState, SchedulerView
from echomq_worker.store import QueueStore
from tests.support.commands import Ask


async def view_of(queue: QueueStore, name: str) -> SchedulerView:
    view = await queue.schedulers.get(name)
    assert view is not None
    return view


async def test_a_list_shows_the_rule_the_next_time_and_the_state(ask: Ask, app: EchoMQ):
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    monday = {"cron": "0 9 * * MON", "tz": "Europe/Berlin", "start": tomorrow}
    await app.schedulers.put("digest", "mail.digest", **monday)  # pyright: ignore[reportArgumentType]
    await app.schedulers.put("sync", "sync.all", every="15m")
    await app.schedulers.put("old", "sync.all", every="1h")
    await app.schedulers.pause("old", reason="the peer is down")
    await app.schedulers.register_repeat("peers", "1h", b"x", first_in="2d")

    answer = await ask("schedule", "list", "-q", app.default_queue)
    records = (await ask("schedule", "list", "-q", app.default_queue, "--json")).records

    lines = answer.out.splitlines()
    assert lines[0].split() == ["NAME", "QUEUE", "RULE", "NEXT", "LAST", "STATE"]
    assert [line.split()[0] for line in lines[1:]] == ["sync", "digest", "old", "peers"]
    assert "at 09:00 on Monday, Europe/Berlin" in lines[2]
    (coming,) = await app.schedulers.upcoming("digest", 1)
    assert f"{coming.isoformat()} (in " in lines[2]
    assert lines[3].endswith("paused: the peer is down")
    assert "every 1h (base wire)" in lines[4]
    assert [(record["kind"], record["state"]) for record in records] == [
        ("scheduler", "waiting"),
        ("scheduler", "waiting"),
        ("scheduler", "paused"),
        ("repeat", "waiting"),
    ]
    assert records[1]["next_at"] == coming.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    assert records[2]["reason"] == "the peer is down"


async def test_a_list_shows_how_the_last_job_has_ended(ask: Ask, app: EchoMQ, queue: QueueStore):
    await app.schedulers.put("sync", "sync.all", every="15m")
    handle = await app.schedulers.trigger("sync")

    (running,) = (await ask("schedule", "list", "-q", queue.name, "--json")).records
    await handle.cancel()
    (ended,) = (await ask("schedule", "list", "-q", queue.name, "--json")).records

    assert (running["last_outcome"], ended["last_outcome"]) == ("triggered", "removed")


async def test_a_long_list_is_cut_and_says_so(ask: Ask, app: EchoMQ):
    for n in range(3):
        await app.schedulers.put(f"s{n}", "sync.all", every="15m")
    await app.schedulers.register_repeat("peers", "1h", b"x")

    answer = await ask("schedule", "list", "-q", app.default_queue, "--limit", "2")
    whole = await ask("schedule", "list", "-q", app.default_queue, "--limit", "4")

    assert len(answer.out.splitlines()) == 3
    assert "... 2 more (--limit)" in answer.err
    assert (len(whole.out.splitlines()), whole.err) == (5, "")


async def test_all_queues_are_listed_unless_one_is_named(
    ask: Ask, app: EchoMQ, new_queue_name: Callable[[], str]
):
    other = new_queue_name()
    await app.schedulers.put("here", "sync.all", every="15m")
    await app.schedulers.put("there", "sync.all", every="15m", queue=other)

    every = (await ask("schedule", "list", "--json")).records
    one = (await ask("schedule", "list", "-q", other, "--json")).records

    assert {("here", app.default_queue), ("there", other)} <= {
        (record["name"], record["queue"]) for record in every
    }
    assert [record["name"] for record in one] == ["there"]


async def test_where_nothing_is_scheduled_the_list_says_so(ask: Ask, queue: QueueStore):
    await queue.pause()
    answer = await ask("schedule", "list", "-q", queue.name)
    assert (answer.code, answer.out, answer.err) == (0, "", "there are no schedulers\n")


async def test_inspect_shows_all_and_hides_secrets(ask: Ask, app: EchoMQ):
    await app.schedulers.put(
        "digest",
        "mail.digest",
        cron="0 9 * * *",
        tz="Europe/Berlin",
        args={"to": "ada", "api_key": "abc123"},
        overlap="skip",
        misfire="all(max=3)",
        expires="1h",
    )
    made = await app.schedulers.trigger("digest")

    shown = await ask("schedule", "inspect", "digest")
    (record,) = (await ask("schedule", "inspect", "digest", "--json")).records
    (raw,) = (await ask("schedule", "inspect", "digest", "--json", "--raw")).records

    assert record["arguments"] == {"to": "ada", "api_key": "***"}
    assert raw["arguments"]["api_key"] == "abc123"
    assert "abc123" not in shown.out
    for text in ("0 9 * * * in Europe/Berlin, dst cron", "all(max=3)", "skip", "1h", made.id):
        assert text in shown.out
    assert (record["cron"], record["tz"], record["job"]) == (
        "0 9 * * *",
        "Europe/Berlin",
        "mail.digest",
    )
    assert len(record["upcoming"]) == 5
    assert [(run["job"], run["outcome"]) for run in record["runs"]] == [(made.id, "triggered")]
    await made.cancel()


async def test_inspect_shows_what_the_base_wire_repeats(ask: Ask, app: EchoMQ):
    await app.schedulers.register_repeat("peers", "90s", b'{"token":"abc123"}', first_in="1h")

    shown = await ask("schedule", "inspect", "peers")
    (record,) = (await ask("schedule", "inspect", "peers", "--json")).records

    assert (record["kind"], record["every_ms"]) == ("repeat", 90_000)
    assert record["payload"] == {"token": "***"}
    assert "every 1m30s, a repeating registration of the base wire" in shown.out


async def test_a_job_is_made_now_and_its_id_is_printed(ask: Ask, app: EchoMQ, queue: QueueStore):
    await app.schedulers.put("digest", "mail.digest", cron="@yearly")

    answer = await ask("schedule", "trigger", "digest")
    (record,) = (await ask("schedule", "trigger", "digest", "--json")).records

    assert answer.err == f"triggered: digest has made a job in queue {queue.name}\n"
    assert (record["name"], record["queue"]) == ("digest", queue.name)
    for made in (answer.out.strip(), record["id"]):
        view = await queue.inspect(JobId(made))
        assert view is not None
        assert (view.state, view.name) == (State.PENDING, "mail.digest")


async def test_a_job_tells_which_scheduler_has_made_it(ask: Ask, app: EchoMQ, queue: QueueStore):
    await app.schedulers.put("digest", "mail.digest", cron="@yearly")
    made = await app.schedulers.trigger("digest")
    (run,) = (await view_of(queue, "digest")).runs

    shown = await ask("job", "inspect", made.id)
    (record,) = (await ask("job", "inspect", made.id, "--json")).records

    assert (record["scheduler"], record["scheduled_for"]) == ("digest", rfc3339(run.instant_ms))
    assert f"scheduler digest, for {record['scheduled_for']}" in shown.out


async def test_a_pause_says_why_and_by_whom_and_a_resume_when_it_goes_on(
    ask: Ask, app: EchoMQ, queue: QueueStore
):
    await app.schedulers.put("digest", "mail.digest", cron="0 9 * * *", tz="Europe/Berlin")

    paused = await ask("schedule", "pause", "digest", "--reason", "holidays")
    view = await view_of(queue, "digest")
    assert view.paused is not None
    assert (view.state, view.paused.reason) == (SchedulerState.PAUSED, "holidays")
    assert "@" in (view.paused.by or "")

    resumed = await ask("schedule", "resume", "digest")
    (coming,) = await app.schedulers.upcoming("digest", 1)
    assert (await view_of(queue, "digest")).state is SchedulerState.WAITING
    assert paused.err == f"paused: digest in queue {queue.name}\n"
    assert resumed.err == f"resumed: digest in queue {queue.name}; next {coming.isoformat()}\n"

    (record,) = (await ask("schedule", "resume", "digest", "--json")).records
    assert (record["outcome"], record["next_at"][:10]) == (
        "resumed",
        f"{coming.astimezone(UTC):%Y-%m-%d}",
    )


async def test_a_scheduler_that_is_not_there_gets_near_misses(ask: Ask, app: EchoMQ):
    await app.schedulers.put("digest.weekly", "mail.digest", cron="@weekly")

    for words in (("inspect",), ("trigger",), ("pause",), ("resume",), ("remove", "-y"), ("next",)):
        answer = await ask("schedule", *words, "digest.wekly", "-q", app.default_queue)
        assert answer.code == 3
        assert "there is no scheduler 'digest.wekly'" in answer.err
        assert "Did you mean digest.weekly?" in answer.err


async def test_a_name_in_several_queues_needs_the_queue(
    ask: Ask, app: EchoMQ, queue: QueueStore, new_queue_name: Callable[[], str]
):
    other = new_queue_name()
    await app.schedulers.put("sync", "sync.all", every="1h")
    await app.schedulers.put("sync", "sync.all", every="1h", queue=other)

    unclear = await ask("schedule", "pause", "sync")
    clear = await ask("schedule", "pause", "sync", "-q", other)

    assert (unclear.code, clear.code) == (2, 0)
    assert "say --queue" in unclear.err
    assert (await view_of(queue, "sync")).state is SchedulerState.WAITING


async def test_a_resume_of_one_that_has_ended_says_that_nothing_comes(ask: Ask, app: EchoMQ):
    past = datetime.now(UTC) - timedelta(days=1)
    await app.schedulers.put("old", "sync.all", every="1h", end=past)
    await app.schedulers.pause("old")

    answer = await ask("schedule", "resume", "old")

    assert answer.err.endswith("; it has ended (end) and makes no more jobs\n")


@pytest.mark.broken_state("a scheduler whose rule cannot be read")
async def test_one_that_cannot_be_read_is_shown_as_that(
    ask: Ask, app: EchoMQ, queue: QueueStore, redis_client: Any
):
    await app.schedulers.put("broken", "sync.all", every="1h")
    await redis_client.hset(queue.keys.scheduler("broken"), "every", "often")

    (row,) = (await ask("schedule", "list", "-q", queue.name, "--json")).records
    shown = await ask("schedule", "inspect", "broken")
    coming = await ask("schedule", "next", "broken")

    assert (row["state"], row["rule"], row["next_at"]) == ("corrupt", None, None)
    assert "every" in row["reason"]
    assert shown.code == 0
    assert "corrupt: " in shown.out
    assert coming.code != 0
    assert "cannot be read" in coming.err
    assert (await ask("schedule", "remove", "broken", "-y")).code == 0


async def test_a_paused_one_shows_what_a_resumption_would_bring(ask: Ask, app: EchoMQ):
    await app.schedulers.put("sync", "sync.all", cron="0 9 * * *")
    await app.schedulers.pause("sync", reason="the peer is down")
    coming = await app.schedulers.upcoming("sync", 5)

    lines = (await ask("schedule", "inspect", "sync")).out.splitlines()
    following = await ask("schedule", "next", "sync", "-n", "1")

    (first,) = (place for place, line in enumerate(lines) if line.startswith("if resumed"))
    assert [line.split()[-1] for line in lines[first : first + 5]] == [
        f"{when:%Y-%m-%dT%H:%M:%SZ}" for when in coming
    ]
    assert not [line for line in lines if line.startswith("next")]
    assert following.err == "sync is paused: these would come if it were resumed now\n"


async def test_one_that_nobody_has_fired_yet_is_shown_as_due(
    ask: Ask, app: EchoMQ, queue: QueueStore, redis_client: Any
):
    await app.schedulers.put("sync", "sync.all", every="1h")
    view = await view_of(queue, "sync")
    assert view.next_ms is not None
    past_ms = view.next_ms - 7_200_000
    await redis_client.hset(queue.keys.scheduler("sync"), "next", past_ms)
    await redis_client.zadd(queue.keys.schedulers, {"sync": past_ms})

    for command in (("list", "-q", queue.name), ("inspect", "sync"), ("next", "sync", "-n", "1")):
        answer = await ask("schedule", *command)
        assert re.search(r"due \d+[hm]\S* ago", answer.out)
    past = await ask("schedule", "next", "sync", "-n", "1", "--after", "2026-01-01T00:00:00Z")
    assert "due" not in past.out
