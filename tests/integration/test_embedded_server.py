"""The embedded server as its users meet it: real processes, real signals, real folders."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import EmbeddedServerError

SERVER_OF_ANOTHER_PROCESS = """
import sys, time
from pathlib import Path
from echomq_worker.embedded import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
server.start()
print(server.pid, server.url, flush=True)
time.sleep(60)
"""


def connect(url: str) -> "redis.Redis":
    return redis.Redis.from_url(url)


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def eventually(holds: Callable[[], bool], within_s: float = 5.0) -> bool:
    give_up = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.01)
    return True


def start_elsewhere(scratch: Path, *arguments: Path) -> tuple["subprocess.Popen[str]", int, str]:
    process = subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, "-c", SERVER_OF_ANOTHER_PROCESS, *map(str, arguments)],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch)},
        text=True,
    )
    assert process.stdout is not None
    with process.stdout as output:
        pid, url = output.readline().split()
    return process, int(pid), url


def test_it_listens_on_a_private_socket_only_and_never_evicts():
    with EmbeddedServer() as server, closing(connect(server.url)) as client:
        socket = Path(urlsplit(server.url).path)
        wanted = {
            "port": "0",
            "maxmemory-policy": "noeviction",
            "hash-max-listpack-value": "1024",
            "appendonly": "no",
        }

        assert {name: client.config_get(name)[name] for name in wanted} == wanted
        assert socket.parent.stat().st_mode & 0o777 == 0o700
        assert socket.stat().st_mode & 0o777 == 0o700


def test_stopping_ends_the_process_and_removes_its_folder():
    server = EmbeddedServer()
    server.start()
    pid, folder = server.pid, Path(urlsplit(server.url).path).parent
    assert pid is not None

    server.stop()
    server.stop()

    assert not is_alive(pid)
    assert not folder.exists()


def test_it_can_be_started_again_after_a_stop_but_not_twice():
    server = EmbeddedServer()
    for _ in range(2):
        with server, closing(connect(server.url)) as client:
            assert client.ping() is True
            with pytest.raises(EmbeddedServerError, match="already"):
                server.start()


def test_several_run_at_once_each_with_its_own_data():
    with EmbeddedServer() as one, EmbeddedServer() as other:
        with closing(connect(one.url)) as client:
            client.set("a", "1")
        with closing(connect(other.url)) as client:
            assert client.get("a") is None


def test_a_durable_directory_keeps_the_data_between_runs(tmp_path: Path):
    home = tmp_path / "with a space" / "é" / ("long" * 20)
    with EmbeddedServer(home) as server, closing(connect(server.url)) as client:
        client.set("a", "1")

    with EmbeddedServer(home) as server, closing(connect(server.url)) as client:
        assert client.get("a") == b"1"


def test_a_directory_serves_one_server_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("echomq_worker.embedded.directory.LOCK_WAIT_S", 0.1)
    in_use = pytest.raises(EmbeddedServerError, match=f"in use.* process {os.getpid()}")
    with EmbeddedServer(tmp_path), in_use:
        EmbeddedServer(tmp_path).start()


@pytest.mark.parametrize("hard", [False, True])
def test_a_restart_keeps_the_url(hard: bool, tmp_path: Path):  # noqa: FBT001 - a parameter
    with EmbeddedServer(tmp_path) as server, closing(connect(server.url)) as client:
        client.set("a", "1")
        before = server.pid

        server.restart(hard=hard)

        assert server.pid != before
        assert client.get("a") == b"1"


def test_it_outlives_the_thread_that_started_it():
    server = EmbeddedServer()
    thread = threading.Thread(target=server.start)
    thread.start()
    thread.join()
    try:
        time.sleep(0.2)
        with closing(connect(server.url)) as client:
            assert client.ping() is True
    finally:
        server.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_dies_with_its_parent(number: signal.Signals, tmp_path: Path):
    parent, pid, _url = start_elsewhere(tmp_path)
    assert is_alive(pid)

    parent.send_signal(number)
    parent.wait()

    assert eventually(lambda: not is_alive(pid))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_what_was_written_is_found_after_the_parent_was_killed(tmp_path: Path):
    parent, _pid, url = start_elsewhere(tmp_path, tmp_path / "data")
    with closing(connect(url)) as client:
        client.set("a", "1")
    parent.kill()
    parent.wait()

    with EmbeddedServer(tmp_path / "data") as server, closing(connect(server.url)) as client:
        assert client.get("a") == b"1"


def test_ctrl_c_on_the_terminal_does_not_reach_it():
    with EmbeddedServer() as server:
        assert server.pid is not None
        assert os.getsid(server.pid) == server.pid


def test_a_server_that_dies_is_noticed():
    with EmbeddedServer() as server:
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)

        assert eventually(lambda: server.pid is None)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "No such file or directory"),
        ("not a program", "Exec format error"),
        ("#!/bin/sh\necho out of luck >&2\nexit 3\n", "exit code 3. It said: out of luck"),
    ],
)
def test_a_broken_program_gives_an_error_with_its_last_words(
    script: str | None, said: str, tmp_path: Path
):
    program = tmp_path / "valkey-server"
    if script is not None:
        program.write_text(script)
        program.chmod(0o755)

    with pytest.raises(EmbeddedServerError, match=f"{program}.*{said}"):
        EmbeddedServer(binary=program).start()


def test_a_server_that_never_answers_is_given_up_and_ended(tmp_path: Path):
    program = tmp_path / "valkey-server"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    program.chmod(0o755)

    with pytest.raises(EmbeddedServerError, match=r"took no commands within 0\.3 s"):
        EmbeddedServer(binary=program, start_timeout_s=0.3).start()

    assert not is_alive(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="no redis-server on PATH")
def test_a_redis_server_from_the_path_serves_as_well(tmp_path: Path):
    program = Path(shutil.which("redis-server") or "")
    with (
        EmbeddedServer(tmp_path, binary=program) as server,
        closing(connect(server.url)) as client,
    ):
        assert client.config_get("hash-max-*-value")["hash-max-ziplist-value"] == "1024"
