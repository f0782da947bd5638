"""Delays and due times: exact, never early, or refused."""

import asyncio
import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from numbers import Integral
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from echomq_worker import EchoMQ, testing
from echomq_worker.domain.job import After, At
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from tests.faults.matrix.cell import new_job as cell_job
from tests.faults.matrix.field import APP, SETTINGS
from tests.support.jobs import A, claim, job_id, new_job
from tests.support.look import Look
from tests.support.private import QUEUE
from tests.support.processes import start
from tests.unit.client_fakes import FakeBackend, FakeQueue

HUNDRED_YEARS_MS = 36_500 * 86_400_000
LONG = [2**31 - 1, 2**31, 2**32, 30 * 86_400_000, HUNDRED_YEARS_MS]
NEW_YORK = ZoneInfo("America/New_York")


@Integral.register
class WholeNumber:
    """A whole number that is no `int`, as numpy has them."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __int__(self) -> int:
        return self._value


def made() -> tuple[Any, FakeQueue]:
    backend = FakeBackend()
    app = EchoMQ(backend=backend)

    @app.job("work", queue="q")
    async def work() -> None: ...

    return work, backend.queue("q")


@pytest.mark.case("DLY-01")
@pytest.mark.parametrize("ms", LONG, ids=str)
async def test_a_long_delay_is_exact_and_runs_nothing(
    queue: QueueStore, line: Line, look: Look, ms: int
):
    before = await look.now_us()
    await queue.enqueue([new_job(A, after_ms=ms), new_job(job_id(9), at_ms=before // 1000 + ms)])
    after = await look.now_us()

    assert await claim(line, 9, promote=9) == []
    scores = await look.scores(look.keys.schedule)
    assert before // 1000 + ms <= scores[A] <= after // 1000 + 1 + ms
    assert scores[job_id(9)] == before // 1000 + ms
    assert (await queue.promote(9)).next_due_ms == min(scores.values())


@pytest.mark.case("DLY-01", "DLY-02")
async def test_a_worker_that_has_only_far_times_and_past_ones_before_it_runs_the_past_and_idles(
    private_server: EmbeddedServer, own_look: Look, tmp_path: Path
):
    own = {"ECHOMQ_REDIS_URL": private_server.url, "ECHOMQ_QUEUES": QUEUE}
    own |= {"ECHOMQ_HEALTH_FILE": str(tmp_path / "health")}
    worker = start(("run", APP), tmp_path, SETTINGS | own)
    try:
        async with Server(ServerOptions(url=private_server.url)) as server:
            queue = server.queue(QUEUE)
            now_ms = await own_look.now_us() // 1000
            due = [At(1), *(After(ms) for ms in LONG), *(At(now_ms + ms) for ms in LONG)]
            jobs = [cell_job(job_id(n), due=at) for n, at in enumerate(due)]
            await queue.enqueue(jobs)
            worker.wait_for("job.completed")
            before = await commands_of(own_look)
            await asyncio.sleep(1.5)
            sent = await commands_of(own_look) - before
            counts = await queue.counts()
    finally:
        worker.stop()

    assert (counts.completed, counts.scheduled, counts.failed) == (1, 2 * len(LONG), 0)
    assert sent < 30, "four beats a second are what it sends"


async def commands_of(look: Look) -> int:
    """Return how many scripts the server has run, and how many waits for a hint it has had."""
    said = (await look.do("INFO", "commandstats")).decode()
    return sum(int(calls) for calls in re.findall(r"cmdstat_(?:evalsha|blpop):calls=(\d+)", said))


@pytest.mark.case("DLY-01")
@pytest.mark.parametrize(
    "when",
    [
        datetime(2093, 1, 1, 0, 0, 0, 1_000, tzinfo=UTC),
        datetime(2093, 9, 5, 23, 34, 15, 551_000, tzinfo=ZoneInfo("Asia/Kathmandu")),
    ],
)
async def test_the_year_2093_is_exact_to_the_millisecond(
    server_url: str, queue_name: str, look: Look, when: datetime
):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)
    now = datetime(2026, 1, 1, tzinfo=UTC)

    @app.job("work")
    async def work() -> None: ...

    async with app:
        at = await work.enqueue_at(when)
        moved = await work.enqueue_at(now)
        assert await moved.reschedule(when)
    due_ms = (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert await look.scores(look.keys.schedule) == {at.id: due_ms, moved.id: due_ms}


@pytest.mark.case("DLY-01")
@pytest.mark.parametrize("delay", ["36525d1ms", 36_525 * 86_400 + 1, timedelta(days=36_526)])
async def test_what_is_over_a_hundred_years_away_is_refused(delay: Any):
    work, queue = made()
    with pytest.raises(InvalidArgumentError, match="100 years"):
        await work.enqueue_in(delay)
    with pytest.raises(InvalidArgumentError, match="100 years"):
        await work.enqueue_at(datetime(2226, 1, 1, tzinfo=UTC))
    assert queue.calls == []


@pytest.mark.case("DLY-02")
@pytest.mark.parametrize("delay", [-1, -(10**13), "-1s", timedelta(seconds=-1)])
async def test_a_delay_into_the_past_is_refused(delay: Any):
    work, queue = made()
    with pytest.raises(InvalidArgumentError):
        await work.enqueue_in(delay)
    assert queue.calls == []


@pytest.mark.case("DLY-02")
@pytest.mark.parametrize("year", [1, 1970])
async def test_an_instant_in_the_past_runs_at_once(server_url: str, queue_name: str, year: int):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.job("work")
    async def work() -> None: ...

    async with app:
        try:
            await work.enqueue_at(datetime(year, 1, 1, tzinfo=UTC))
        except InvalidArgumentError:
            assert year == 1
        else:
            assert (await testing.run_worker(app, server_url)).completed == 1


@pytest.mark.case("DLY-04")
@pytest.mark.parametrize(
    ("delay", "due"),
    [
        (0, None),
        (0.0004, After(1)),
        (0.0019, After(2)),
        (timedelta(0), None),
        ("5s", After(5_000)),
        (timedelta(microseconds=1_001), After(2)),
        (Decimal("0.1"), After(100)),
        (Decimal("0.0010000001"), After(2)),
        (WholeNumber(5), After(5_000)),
    ],
)
async def test_a_delay_is_rounded_up_and_never_early(delay: Any, due: After | None):
    work, queue = made()
    await work.enqueue_in(delay)
    assert queue.jobs[0].due == due


@pytest.mark.case("DLY-04")
@pytest.mark.parametrize(
    "delay",
    [
        True,
        False,
        None,
        math.nan,
        math.inf,
        timedelta.max,
        "5",
        " 5 ",
        "0.5",
        "nan",
        "inf",
        b"5",
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("-Infinity"),
        Decimal("1e999999"),
        Decimal(-1),
        10**400,
    ],
)
async def test_a_delay_that_is_none_is_refused(delay: Any):
    work, queue = made()
    with pytest.raises(InvalidArgumentError):
        await work.enqueue_in(delay)
    assert queue.calls == []


@pytest.mark.case("DLY-05")
@pytest.mark.parametrize(
    ("when", "utc"),
    [
        (datetime(2026, 11, 1, 1, 30, tzinfo=NEW_YORK, fold=0), datetime(2026, 11, 1, 5, 30)),  # noqa: DTZ001
        (datetime(2026, 11, 1, 1, 30, tzinfo=NEW_YORK, fold=1), datetime(2026, 11, 1, 6, 30)),  # noqa: DTZ001
        (datetime(2026, 3, 8, 2, 30, tzinfo=NEW_YORK), datetime(2026, 3, 8, 7, 30)),  # noqa: DTZ001
    ],
)
async def test_an_hour_that_comes_twice_or_not_at_all_means_what_its_fold_says(
    when: datetime, utc: datetime
):
    work, queue = made()
    await work.enqueue_at(when)
    assert queue.jobs[0].due == At(int(utc.replace(tzinfo=UTC).timestamp() * 1000))


@pytest.mark.case("DLY-05")
async def test_a_naive_time_is_refused():
    work, queue = made()
    with pytest.raises(InvalidArgumentError, match="time zone"):
        await work.enqueue_at(datetime(2026, 11, 1, 1, 30))  # noqa: DTZ001
    assert queue.calls == []


@pytest.mark.case("DLY-07")
async def test_what_is_due_now_is_promoted_in_this_pass(queue: QueueStore, look: Look):
    for number in range(20):
        id_ = job_id(number)
        await queue.enqueue([new_job(id_, at_ms=await look.now_us() // 1000)])
        assert (await queue.promote(1)).moved == 1
        assert await look.scores(look.keys.schedule) == {}
