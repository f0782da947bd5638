"""The probe, and the file that it reads."""

import ast
import json
import os
import stat
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from echomq_worker import health
from echomq_worker.config import Settings
from echomq_worker.observe.heartbeat_file import Heartbeat, HeartbeatFile, heartbeat_path

NOW = 1_796_000_000.0


def beat(**changes: object) -> dict[str, object]:
    usual = Heartbeat(
        worker="w:1", state="running", beat_at=NOW, claim_at=NOW, redis_up=True, beat_ms=1_000
    )
    return asdict(usual) | changes


def verdicts(**changes: object) -> dict[str, bool]:
    return {need: not health.problems(beat(**changes), NOW, need) for need in health.NEEDS}


WELL = {"healthy": True, "live": True, "ready": True}
SICK = {"healthy": False, "live": False, "ready": False}


def test_a_worker_that_beats_and_claims_is_well():
    assert verdicts() == WELL
    assert verdicts(beat_at=NOW - 9.9, claim_at=NOW - 9.9) == WELL


def test_a_worker_that_has_not_beaten_for_ten_seconds_is_sick():
    assert verdicts(beat_at=NOW - 10.1) == SICK


def test_three_beats_may_be_longer_than_ten_seconds():
    assert verdicts(beat_at=NOW - 29, claim_at=NOW - 29, beat_ms=10_000) == WELL
    assert verdicts(beat_at=NOW - 31, claim_at=NOW - 31, beat_ms=10_000) == SICK


def test_a_worker_whose_claims_hang_is_sick_although_it_beats():
    assert verdicts(claim_at=NOW - 11) == SICK
    assert verdicts(claim_at=None) == SICK


def test_a_worker_is_not_restarted_because_the_server_is_away():
    assert verdicts(claim_at=NOW - 600, redis_up=False) == {
        "healthy": False,
        "live": True,
        "ready": False,
    }


def test_a_starting_worker_lives_and_is_not_yet_well():
    assert verdicts(state="starting", claim_at=None) == {
        "healthy": False,
        "live": True,
        "ready": False,
    }


def test_a_draining_worker_claims_nothing_and_is_well_but_not_ready():
    assert verdicts(state="draining", claim_at=NOW - 20) == {
        "healthy": True,
        "live": True,
        "ready": False,
    }


def test_a_beat_from_the_future_proves_nothing():
    assert verdicts(beat_at=NOW + 3_600) == SICK


def test_every_reason_is_told():
    (no_beat, no_answer, no_claim) = health.problems(
        beat(beat_at=NOW - 12.34, claim_at=NOW - 40, redis_up=False), NOW, "healthy"
    )

    assert no_beat == "no beat for 12.3 s (one is due every 1000 ms)"
    assert no_answer == "the server does not answer"
    assert no_claim == "no claim was answered for 40.0 s"


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("ECHOMQ_HEALTH_FILE", raising=False)
    monkeypatch.delenv("ECHOMQ_WORKER_NAME", raising=False)
    monkeypatch.setattr(health.time, "time", lambda: NOW)
    return tmp_path / f"echomq-{os.getuid()}"


def written(worker: str, **changes: object) -> Path:
    path = heartbeat_path(Settings(worker_name=worker), os.environ)
    file = HeartbeatFile(path)
    assert file.write(Heartbeat(**(beat(worker=worker) | changes)))  # pyright: ignore[reportArgumentType]
    return path


def look(*arguments: str) -> int:
    return health.main([*arguments, "--timeout", "0"])


def test_the_probe_finds_the_file_that_a_worker_writes(
    runtime: Path, capsys: pytest.CaptureFixture[str]
):
    path = written("host:17", beat_at=NOW - 0.3)

    assert path == runtime / "host_17.json"
    assert look() == 0
    assert capsys.readouterr().out == (
        f"healthy: worker host:17 (process {os.getpid()}, running): beat 0.3 s ago\n"
    )


def test_a_sick_worker_is_named_with_the_reason(runtime: Path, capsys: pytest.CaptureFixture[str]):
    written("host:17", claim_at=NOW - 60)

    assert look("--live") == 1
    assert "not live: worker host:17" in capsys.readouterr().out
    assert runtime.exists()


def test_without_a_worker_the_probe_says_where_it_looked(
    runtime: Path, capsys: pytest.CaptureFixture[str]
):
    assert look() == 1
    assert str(runtime) in capsys.readouterr().out


@pytest.mark.usefixtures("runtime")
def test_of_several_workers_each_must_be_well_unless_one_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
):
    written("a")
    written("b", beat_at=NOW - 60)

    assert look() == 1
    assert look("--worker", "a") == 0
    assert look("--worker", "b") == 1
    monkeypatch.setenv("ECHOMQ_WORKER_NAME", "a")
    assert look() == 0


@pytest.mark.usefixtures("runtime")
def test_a_file_left_behind_by_a_killed_worker_does_not_count_beside_a_living_one():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    written("old", beat_at=NOW - 600, pid=gone.pid)

    assert look() == 1
    written("new")
    assert look() == 0


@pytest.mark.usefixtures("runtime")
def test_a_file_of_its_own_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "deep" / "beat"
    monkeypatch.setenv("ECHOMQ_HEALTH_FILE", str(path))
    assert look() == 1

    assert heartbeat_path(Settings(health_file=str(path)), os.environ) == path
    HeartbeatFile(path).write(Heartbeat(**beat()))  # pyright: ignore[reportArgumentType]
    assert look() == 0


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b'{"pid": "x"}', b"\xff", json.dumps(beat(state="odd")).encode()],
)
def test_a_file_that_is_no_heartbeat_is_refused(
    runtime: Path, content: bytes, capsys: pytest.CaptureFixture[str]
):
    runtime.mkdir()
    (runtime / "w.json").write_bytes(content)

    assert look() == 1
    assert "not well" in capsys.readouterr().out


@pytest.mark.usefixtures("runtime")
def test_programs_are_told_the_verdict_and_its_reasons(capsys: pytest.CaptureFixture[str]):
    written("a")
    assert look("--json") == 0
    assert json.loads(capsys.readouterr().out) == {"well": True, "reasons": []}

    written("b", claim_at=NOW - 60)
    assert look("--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["well"] is False
    (reason,) = told["reasons"]
    assert reason.startswith("not healthy: worker b")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_has_gone_away_is_no_error(options: list[str], tmp_path: Path):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(  # noqa: S603
        [sys.executable, health.__file__, *options],
        env={"ECHOMQ_HEALTH_FILE": str(tmp_path / "absent")},
        check=False,
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=10,
    )
    os.close(writer)

    assert (done.returncode, done.stderr) == (1, b"")


def test_a_wrong_option_is_a_usage_error(capsys: pytest.CaptureFixture[str]):
    for arguments in (["--live", "--ready"], ["--timeout", "soon"]):
        with pytest.raises(SystemExit) as caught:
            health.main(arguments)
        assert caught.value.code == 2
    assert "expected one such as 2s" in capsys.readouterr().err


def test_a_probe_that_cannot_read_gives_up_in_time(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = subprocess.run(  # noqa: S603
        [sys.executable, health.__file__, "--timeout", "100ms", "--json"],
        env={"ECHOMQ_HEALTH_FILE": str(pipe)},
        check=False,
        capture_output=True,
        timeout=10,
    )

    assert done.returncode == 1
    assert "within 0.1 s" in json.loads(done.stdout)["reasons"][0]


def test_the_probe_imports_nothing_but_the_standard_library():
    tree = ast.parse(Path(health.__file__).read_text())
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else _names(node))
    }

    assert imported <= sys.stdlib_module_names


def _names(node: ast.Import) -> list[str]:
    return [alias.name for alias in node.names]


def test_the_file_is_for_its_user_only_and_replaced_as_a_whole(runtime: Path):
    path = written("w")
    before = path.stat().st_ino
    written("w", claim_at=None)

    assert path.stat().st_ino != before
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700
    assert [each.name for each in runtime.iterdir()] == ["w.json"]


def test_a_stopped_worker_takes_its_file_away(runtime: Path):
    file = HeartbeatFile(written("w"))
    file.remove()
    file.remove()

    assert list(runtime.iterdir()) == []


def test_a_file_that_cannot_be_written_is_told_once_and_does_no_harm(tmp_path: Path):
    (tmp_path / "file").write_text("")
    file = HeartbeatFile(tmp_path / "file" / "beat.json")
    usual = Heartbeat(**beat())  # pyright: ignore[reportArgumentType]
    with capture_logs() as lines:
        assert [file.write(usual) for _ in range(3)] == [False, False, False]

    assert [line["event"] for line in lines] == ["health.file_unwritable"]


def test_a_link_in_place_of_the_file_is_not_followed(runtime: Path, tmp_path: Path):
    runtime.mkdir(mode=0o700)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = runtime / "w.json"
    for link in (path, path.with_name(f".{path.name}.{os.getpid()}")):
        link.symlink_to(victim)
    HeartbeatFile(path).write(Heartbeat(**beat()))  # pyright: ignore[reportArgumentType]

    assert victim.read_text() == "precious"
