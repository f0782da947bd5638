"""Workers and producers whose clocks are wrong: only the server's clock counts."""

import time
from collections.abc import Generator
from pathlib import Path

import pytest

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import Server, ServerOptions
from tests.faults.matrix.cell import new_job
from tests.faults.matrix.field import APP, SETTINGS, until
from tests.support.jobs import A, B, C, job_id
from tests.support.look import Look
from tests.support.moved_clock import HOUR_S, MovedClock, must_move_clocks
from tests.support.private import QUEUE
from tests.support.processes import Daemon, echomq, start


class Crew:
    """Workers with clocks of their own."""

    def __init__(self, url: str, folder: Path) -> None:
        self.clocks: list[MovedClock] = []
        self.daemons: list[Daemon] = []
        self._url = url
        self._folder = folder

    def hire(self, by_s: int = 0) -> MovedClock:
        """Start a worker whose clock is wrong by so much."""
        folder = self._folder / f"worker-{len(self.daemons)}"
        folder.mkdir()
        clock = MovedClock(folder)
        clock.move(by_s)
        own = {
            "ECHOMQ_REDIS_URL": self._url,
            "ECHOMQ_QUEUES": QUEUE,
            "ECHOMQ_HEALTH_FILE": str(folder / "health"),
        }
        self.daemons.append(start(("run", APP), folder, SETTINGS | own | clock.environ))
        return clock


@pytest.fixture
def crew(private_server: EmbeddedServer, tmp_path: Path) -> Generator[Crew]:
    """Workers on the private server; they end with the test."""
    must_move_clocks()
    crew = Crew(private_server.url, tmp_path)
    yield crew
    for daemon in crew.daemons:
        daemon.stop()


@pytest.mark.slow
@pytest.mark.case("CLK-01")
async def test_workers_whose_clocks_are_an_hour_off_take_no_lease_of_each_other(
    crew: Crew, private_server: EmbeddedServer
):
    for by_s in (HOUR_S, -HOUR_S, 0):
        crew.hire(by_s)
    jobs = [job_id(number) for number in range(60)]
    async with Server(ServerOptions(url=private_server.url, log_size=10_000)) as server:
        queue = server.queue(QUEUE)
        await queue.enqueue([new_job(id_, 0.04 * n) for n, id_ in enumerate(jobs)])
        while (await queue.counts()).completed < len(jobs):
            await until_a_moment_later()
        log = await queue.log(limit=1_000)

    assert sorted(e.id for e in log if e.event == "claimed") == sorted(jobs)
    assert [entry for entry in log if entry.event == "recovered"] == []


@pytest.mark.case("CLK-02")
async def test_a_delay_counts_from_the_enqueue_by_the_clock_of_the_server(
    crew: Crew, private_server: EmbeddedServer, own_look: Look, tmp_path: Path
):
    clock = MovedClock(tmp_path)
    clock.move(600)
    before_ms = await own_look.now_us() // 1_000
    said = echomq(
        *("job", "enqueue", "cell", "--id", A, "--queue", QUEUE, "--delay", "5s"),
        given=None,
        cwd=None,
        ECHOMQ_REDIS_URL=private_server.url,
        **clock.environ,
    )
    after_ms = await own_look.now_us() // 1_000

    assert said.returncode == 0, said.stderr
    (due_ms,) = (await own_look.scores(own_look.keys.schedule)).values()
    assert before_ms + 5_000 <= due_ms <= after_ms + 5_000


@pytest.mark.case("CLK-02")
async def test_a_move_and_an_expiry_count_by_the_clock_of_the_server(
    crew: Crew, private_server: EmbeddedServer, own_look: Look, tmp_path: Path
):
    clock = MovedClock(tmp_path)
    clock.move(HOUR_S)

    def say(*words: str) -> None:
        said = echomq(
            *("job", *words, "--queue", QUEUE),
            given=None,
            cwd=None,
            ECHOMQ_REDIS_URL=private_server.url,
            **clock.environ,
        )
        assert said.returncode == 0, said.stderr

    before_ms = await own_look.now_us() // 1_000
    say("enqueue", "cell", "--id", A, "--delay", "1d", "--expires", "10m")
    say("reschedule", A, "--in", "5s")
    after_ms = await own_look.now_us() // 1_000

    (due_ms,) = (await own_look.scores(own_look.keys.schedule)).values()
    assert before_ms + 5_000 <= due_ms <= after_ms + 5_001
    assert (await own_look.row(A))["expires"] == str(due_ms + 600_000)


@pytest.mark.slow
@pytest.mark.case("CLK-04")
async def test_a_worker_whose_clock_steps_back_goes_on_beating(
    crew: Crew, private_server: EmbeddedServer
):
    clock = crew.hire()
    async with Server(ServerOptions(url=private_server.url)) as server:
        queue = server.queue(QUEUE)
        await queue.enqueue([new_job(A)])
        while (await queue.counts()).completed < 1:
            await until_a_moment_later()
        clock.move(-HOUR_S)
        began = time.monotonic()
        # One that a bell tells of, and one that runs for longer than a lease.
        await queue.enqueue([new_job(B), new_job(C, 2.0)])
        while (await queue.counts()).completed < 3:
            await until_a_moment_later()

    assert time.monotonic() - began < 2.0 + 3.0


async def until_a_moment_later() -> None:
    """Wait a little."""
    later = time.monotonic() + 0.05
    await until(lambda: time.monotonic() > later)


@pytest.mark.case("CLK-05")
@pytest.mark.parametrize(
    "words", [("enqueue", "cell", "--at"), ("enqueue", "x", "--expires"), ("reschedule", A, "--at")]
)
def test_a_leap_second_is_refused_with_a_clear_text_or_is_the_second_after_it(
    words: tuple[str, ...],
):
    said = echomq("job", *words, "2016-12-31T23:59:60Z")

    assert said.returncode == 2
    assert "2016-12-31T23:59:60Z" in said.stderr
    assert "Traceback" not in said.stderr
