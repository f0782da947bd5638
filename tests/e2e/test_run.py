"""`echomq run` from its start to a clean stop."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.protocol.keyspace import NODES_KEY
from echomq_worker.store import QueueStore, Server
from tests.e2e.conftest import StartDaemon
from tests.support.processes import PATIENCE_S, ROOT, Daemon, echomq, environment

Runs = Callable[[str], list[list[str]]]


def enqueue(url: str, name: str, *words: str) -> str:
    answer = echomq("job", "enqueue", name, *words, ECHOMQ_REDIS_URL=url)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.split()[0]


async def test_jobs_run_and_a_term_ends_an_idle_worker_at_once(
    start_daemon: StartDaemon, embedded: EmbeddedServer, queue: QueueStore, runs: Runs
):
    daemon = start_daemon()
    job_id = enqueue(embedded.url, "quick", "number:=7", "--wait", "10s")
    daemon.wait_for("job.completed")

    daemon.send(signal.SIGTERM)

    assert daemon.wait(3) == 0
    assert [run[0] for run in runs("ran")] == [job_id]
    assert daemon.events("job.completed")[0]["job_id"] == job_id
    assert daemon.events("worker.stopped")[0]["exit_code"] == 0
    counts = await queue.counts()
    assert (counts.completed, counts.workers) == (1, 0)


async def test_every_line_off_a_terminal_is_json_on_standard_output(start_daemon: StartDaemon):
    daemon = start_daemon()
    daemon.wait_for("worker.started")
    daemon.send(signal.SIGTERM)
    daemon.wait()

    lines = daemon.output.read_text().splitlines()
    assert all(json.loads(line)["event"] for line in lines)
    assert daemon.errors.read_text() == ""
    introduced = daemon.events("worker.introduced")[0]
    assert introduced["memory_policy"] == "noeviction"
    assert "quick" in introduced["handlers"]


async def test_a_burst_ends_when_nothing_is_left_that_may_run(
    start_daemon: StartDaemon, embedded: EmbeddedServer, queue: QueueStore
):
    enqueue(embedded.url, "chain", "left:=20")
    enqueue(embedded.url, "quick", "number:=1", "--delay", "1h")

    daemon = start_daemon("run", "work:app", "--burst")

    assert daemon.wait() == 0
    counts = await queue.counts()
    assert (counts.completed, counts.pending, counts.scheduled) == (21, 0, 1)


def test_a_dry_run_imports_the_application_and_needs_no_server():
    answer = echomq("run", "work:app", "--dry-run", ECHOMQ_REDIS_URL="redis://127.0.0.1:1/0")

    assert answer.returncode == 0
    assert "quick" in answer.stderr


def test_the_application_may_be_named_by_the_environment():
    assert echomq("run", "--dry-run", ECHOMQ_APP="work:app").returncode == 0


def test_the_help_does_not_need_an_application():
    answer = echomq("run", "--help")

    assert answer.returncode == 0
    assert "--shutdown-timeout" in answer.stdout
    assert "--redis-password" not in answer.stdout


@pytest.mark.parametrize(
    ("app", "complaint"),
    [
        ("ap:app", "cannot import \"ap\": No module named 'ap'"),
        ("work:ap", "Did you mean work:app?"),
        ("work", "expected module:attribute"),
        ("", "no application is named"),
    ],
)
def test_an_application_that_is_not_there_exits_with_78(app: str, complaint: str):
    answer = echomq("run", *([app] if app else []))

    assert answer.returncode == 78
    assert answer.stderr.startswith("error: ")
    assert complaint in answer.stderr


def test_without_a_server_it_says_so_hints_at_dev_and_exits_with_69():
    answer = echomq("run", "work:app", ECHOMQ_REDIS_STARTUP_TIMEOUT="300ms", ECHOMQ_REDIS_URL="")

    assert answer.returncode == 69
    assert "redis://127.0.0.1:6379/0 was not there for 300ms" in answer.stderr
    assert "echomq dev work:app" in answer.stderr
    assert '"event":"server.not_there"' in answer.stdout


def test_a_worker_that_still_waits_for_its_server_can_be_stopped(start_daemon: StartDaemon):
    daemon = start_daemon(ECHOMQ_REDIS_URL="redis://127.0.0.1:1/0")
    daemon.wait_for("server.not_there")

    daemon.send(signal.SIGTERM)

    assert daemon.wait(3) == 0


def test_a_slow_import_can_be_stopped(start_daemon: StartDaemon, tmp_path: Path):
    (tmp_path / "slow.py").write_text("import time\nprint('{', flush=True)\ntime.sleep(60)\n")
    daemon = start_daemon("run", "slow:app", ECHOMQ_APP_DIR=str(tmp_path))
    daemon.wait_until(lambda: "{" in daemon.output.read_text(), "the import")

    daemon.send(signal.SIGTERM)

    assert daemon.wait(3) == 0


def test_another_wire_version_exits_with_78_and_nothing_is_written(
    start_daemon: StartDaemon, embedded: EmbeddedServer
):
    with redis.Redis.from_url(embedded.url) as client:
        client.set("{emq}:version", "echomq:4.0.0")
        daemon = start_daemon()

        assert daemon.wait() == 78
        assert "holds wire 'echomq:4.0.0'" in daemon.said()
        assert client.get("{emq}:version") == b"echomq:4.0.0"
        assert client.dbsize() == 1


@pytest.mark.case("SRV-05")
def test_a_server_that_may_drop_jobs_is_refused_unless_allowed(
    start_daemon: StartDaemon, embedded: EmbeddedServer
):
    with redis.Redis.from_url(embedded.url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")

    refused = start_daemon()
    assert refused.wait() == 78
    assert "maxmemory-policy is allkeys-lru, expected noeviction" in refused.said()

    start_daemon(ECHOMQ_ALLOW_EVICTION="true").wait_for("worker.started")


async def test_a_node_number_is_leased_and_given_back(
    start_daemon: StartDaemon, embedded: EmbeddedServer, server: Server
):
    with redis.Redis.from_url(embedded.url) as client:
        first, second = start_daemon(), start_daemon()
        for daemon in (first, second):
            daemon.wait_for("worker.started")
        assert client.zcard(NODES_KEY) == 2

        first.send(signal.SIGTERM)
        first.wait()
        assert client.zcard(NODES_KEY) == 1


def test_health_tells_the_truth_while_it_runs_and_after(start_daemon: StartDaemon):
    daemon = start_daemon(ECHOMQ_BEAT="100ms")
    daemon.wait_for("worker.started")
    daemon.wait_until(lambda: health(daemon, "--ready") == 0, "ready")

    daemon.send(signal.SIGTERM)
    daemon.wait()

    assert health(daemon) == 1


def health(daemon: Daemon, *words: str) -> int:
    file = str(daemon.output.with_name("health.json"))
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "echomq_worker.health", *words],
        env=environment(ECHOMQ_HEALTH_FILE=file),
        cwd=ROOT,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    ).returncode


def test_jobs_of_a_queue_that_nobody_serves_are_pointed_out(
    start_daemon: StartDaemon, tmp_path: Path
):
    text = "from echomq_worker import EchoMQ\napp = EchoMQ(default_queue='mail')\n"
    text += "@app.job('email.send')\nasync def send() -> None: ...\n"
    (tmp_path / "mailer.py").write_text(text)

    daemon = start_daemon("run", "mailer:app", ECHOMQ_APP_DIR=str(tmp_path))

    (line,) = daemon.wait_for("queue.not_served")
    assert (line["queue"], line["handlers"]) == ("mail", ["email.send"])


def test_settings_come_from_env_files_and_the_application_sees_them(
    start_daemon: StartDaemon, tmp_path: Path
):
    (tmp_path / "settings").write_text("ECHOMQ_QUEUES=other:2\nGREETING=hello\n")
    (tmp_path / "looks.py").write_text(
        "import os\nfrom echomq_worker import EchoMQ\n"
        "app = EchoMQ(default_queue='other')\n"
        "app.job(os.environ['GREETING'])(lambda: None)\n"
    )

    daemon = start_daemon(
        "run", "looks:app", "--env-file", str(tmp_path / "settings"), ECHOMQ_APP_DIR=str(tmp_path)
    )

    (line,) = daemon.wait_for("worker.introduced")
    assert line["handlers"] == ["hello"]
    assert daemon.wait_for("worker.started")[0]["queues"] == ["other:2"]


def test_the_address_that_the_application_decides_on_counts_more_than_the_environment(
    start_daemon: StartDaemon, embedded: EmbeddedServer, tmp_path: Path
):
    (tmp_path / "decided.py").write_text(
        f"from echomq_worker import EchoMQ\napp = EchoMQ({embedded.url!r})\n"
    )

    daemon = start_daemon(
        "run",
        "decided:app",
        ECHOMQ_APP_DIR=str(tmp_path),
        ECHOMQ_REDIS_URL="redis://127.0.0.1:1/0",
    )

    daemon.wait_for("worker.started")
    assert daemon.events("worker.introduced")[0]["at"] == embedded.url.removesuffix("?db=0")
