"""`echomq demo` and `echomq dev`: what newcomers meet first."""

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from tests.support.processes import Daemon, echomq, eventually, is_alive, start

JOBS = """
import os
from echomq_worker import EchoMQ
app = EchoMQ()
@app.job("hello.greet")
async def greet(name: str) -> str:
    return f"{os.environ.get('GREETING', 'Hello')}, {name}!"
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with 2,000 files."""
    folder = tmp_path / "files"
    for number in range(2_000):
        path = folder / f"{number % 40:02}" / f"{number:04}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n" * (number % 7))
    return folder


def test_two_thousand_files_are_indexed_and_a_killed_worker_loses_nothing(files: Path):
    answer = echomq("demo", str(files), "--longest-delay", "1s", "--kill", "--json")

    account = json.loads(answer.stdout)
    assert answer.returncode == 0, answer.stderr
    assert account["adds_up"] is True
    assert account["problems"] == []
    assert (account["jobs"], account["files"], account["unreadable"]) == (2_002, 2_000, 0)
    assert (account["completed"], account["dead"], account["retried"]) == (2_001, 1, 1)
    assert account["immediate"] + account["delayed"] == 2_000
    assert account["size"] == sum(path.stat().st_size for path in files.rglob("*.txt"))
    assert account["lines"] == sum(number % 7 for number in range(2_000))
    assert account["lateness_ms"]["count"] == account["delayed"]
    assert account["lateness_ms"]["min"] >= 0
    # How many jobs it held when it was killed is chance.
    assert (account["workers"], account["killed"]) == (2, 1)


def test_it_indexes_its_own_sources_and_tells_people_what_became_of_them():
    answer = echomq("demo", "--limit", "20", "--longest-delay", "100ms")

    assert answer.returncode == 0, answer.stderr
    assert "22 jobs in" in answer.stdout
    assert "22 enqueued = 21 completed + 1 dead" in answer.stdout
    assert "never early" in answer.stdout or "delayed          0" in answer.stdout
    assert "failed on purpose, will be tried again" in answer.stderr
    assert "\r" not in answer.stderr


def test_on_a_server_that_is_given_it_leaves_nothing_but_what_expires(
    embedded: EmbeddedServer, tmp_path: Path
):
    password, folder = "hunter2-of-the-server", tmp_path / "one"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    with redis.Redis.from_url(embedded.url) as client:
        client.config_set("requirepass", password)
        client.execute_command("AUTH", password)
        settings = {"ECHOMQ_REDIS_URL": embedded.url, "ECHOMQ_REDIS_PASSWORD": password}
        answer = echomq("demo", str(folder), "--longest-delay", "50ms", cwd=tmp_path, **settings)
        keys = cast("Iterator[bytes]", client.scan_iter())
        left = {key: client.ttl(key) for key in keys}
        client.config_set("requirepass", "")

    assert answer.returncode == 0, answer.stderr
    assert password not in answer.stdout + answer.stderr
    assert {key for key, ttl in left.items() if ttl < 0} <= {b"{emq}:version", b"{emq}:nodes"}


def test_a_folder_without_files_is_said(tmp_path: Path):
    answer = echomq("demo", str(tmp_path))

    assert answer.returncode == 3
    assert f"there are no files in {tmp_path}" in answer.stderr


@pytest.mark.parametrize(
    ("name", "told"), [("nope", "does not exist"), ("file", "is no directory")]
)
def test_what_is_no_folder_is_said(name: str, told: str, tmp_path: Path):
    (tmp_path / "file").write_text("")
    answer = echomq("demo", str(tmp_path / name))

    assert answer.returncode == 3
    assert f"{tmp_path / name} {told}" in answer.stderr


def test_settings_for_other_workers_change_nothing_and_any_file_name_is_indexed(tmp_path: Path):
    Path(tmp_path, os.fsdecode(b"we\xffird")).write_text("x")
    (tmp_path / "plain").write_text("yz")
    settings = {
        "ECHOMQ_MAX_ATTEMPTS": "1",
        "ECHOMQ_CRASH_LIMIT": "1",
        "ECHOMQ_JOB_TIMEOUT": "1ms",
        "ECHOMQ_QUEUES": "mail,reports",
        "ECHOMQ_NODE_ID": "7",
    }
    words = ("demo", str(tmp_path), "--longest-delay", "50ms", "--json")
    answer = echomq(*words, given=None, cwd=tmp_path, **settings)

    assert answer.returncode == 0, answer.stdout + answer.stderr
    account = json.loads(answer.stdout)
    assert (account["files"], account["size"], account["unreadable"]) == (2, 3, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_being_told_to_stop_ends_it_with_its_workers(
    number: signal.Signals, files: Path, tmp_path: Path
):
    daemon = start(("demo", str(files), "--longest-delay", "1m"), tmp_path, {})
    worker = int(wait_for_text(daemon, "worker ").split()[1])

    daemon.send(number)

    assert daemon.wait(10) == 130
    assert not is_alive(worker)


def test_a_killed_demonstration_takes_its_worker_along(files: Path, tmp_path: Path):
    daemon = start(("demo", str(files), "--longest-delay", "1m"), tmp_path, {})
    worker = int(wait_for_text(daemon, "worker ").split()[1])

    daemon.send(signal.SIGKILL)
    daemon.wait()

    assert eventually(lambda: not is_alive(worker))


def wait_for_text(daemon: Daemon, beginning: str) -> str:
    """Return the first line of standard error that begins so."""

    def lines() -> list[str]:
        said = daemon.errors.read_text().splitlines()
        return [line for line in said if line.startswith(beginning)]

    daemon.wait_until(lambda: bool(lines()), beginning)
    return lines()[0]


def dev(folder: Path, number: int) -> tuple[Daemon, str]:
    """Start `echomq dev` in a folder; return it and the URL of its server."""
    output = folder / f"dev-{number}"
    output.mkdir()
    daemon = start(("dev", "jobs:app"), output, {"ECHOMQ_APP_DIR": str(folder)})
    line = wait_for_text(daemon, "  export ECHOMQ_REDIS_URL=")
    return daemon, line.partition("'")[2].rstrip("'")


def test_dev_brings_a_server_whose_data_lasts(tmp_path: Path):
    (tmp_path / "jobs.py").write_text(JOBS)
    first, url = dev(tmp_path, 1)
    wait_for_text(first, "ready in")
    words = ("job", "enqueue", "hello.greet", "name=you", "--wait", "5s", "--json")
    answer = echomq(*words, ECHOMQ_REDIS_URL=url)
    assert json.loads(answer.stdout)["result"] == "Hello, you!"
    echomq("job", "enqueue", "hello.greet", "name=you", "--delay", "1h", ECHOMQ_REDIS_URL=url)
    first.send(signal.SIGINT)
    assert first.wait() == 0
    assert "hello.greet" in first.output.read_text()

    second, url = dev(tmp_path, 2)
    wait_for_text(second, "ready in")
    stats = json.loads(echomq("stats", "--json", ECHOMQ_REDIS_URL=url).stdout)
    second.send(signal.SIGTERM)

    assert (stats["completed"], stats["scheduled"]) == (1, 1)
    assert second.wait() == 0
    data = tmp_path / ".echomq"
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert (data / ".gitignore").read_text() == "*\n"


def test_dev_reads_the_env_file_of_the_folder_and_says_so(tmp_path: Path, embedded: EmbeddedServer):
    (tmp_path / "jobs.py").write_text(JOBS)
    (tmp_path / ".env").write_text("GREETING=Moin\nECHOMQ_CONCURRENCY=3\n")
    settings = {"ECHOMQ_APP_DIR": str(tmp_path), "ECHOMQ_REDIS_URL": embedded.url}
    daemon = start(("dev", "jobs:app"), tmp_path, settings)
    try:
        wait_for_text(daemon, "reading settings from")
        wait_for_text(daemon, "ready in")
        words = ("job", "enqueue", "hello.greet", "name=you", "--wait", "5s", "--json")
        answer = echomq(*words, ECHOMQ_REDIS_URL=embedded.url)
    finally:
        daemon.stop()

    assert json.loads(answer.stdout)["result"] == "Moin, you!"
    assert "3 at once" in daemon.errors.read_text()
