"""`echomq config`: what operators see of their settings."""

import json
from pathlib import Path

import pytest

from echomq_worker.cli.main import main
from echomq_worker.config import load
from echomq_worker.config.settings import declarations
from echomq_worker.zones import zone_data_version

pytestmark = pytest.mark.usefixtures("no_settings")

ZONES = zone_data_version()


def test_check_tells_every_problem_and_exits_with_78(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ECHOMQ_CONCURRENCY", "ten")
    monkeypatch.setenv("ECHOMQ_SHUTDOWN_TIMEOUT", "20")
    monkeypatch.setenv("ECHOMQ_SHUTDOWN_CANCEL_GRACE", "30s")
    monkeypatch.setenv("ECHOMQ_CONCURENCY", "5")

    assert main(["config", "check"]) == 78
    assert capsys.readouterr().out.splitlines() == [
        'error: ECHOMQ_CONCURRENCY: expected a whole number from 1 to 1000, got "ten"',
        "error: ECHOMQ_SHUTDOWN_CANCEL_GRACE: 30s is longer than ECHOMQ_SHUTDOWN_TIMEOUT (20s)",
        "warning: ECHOMQ_CONCURENCY is not a setting. Did you mean ECHOMQ_CONCURRENCY?",
        "2 errors, 1 warning",
        f"tz data {ZONES}",
    ]


def test_check_is_content_with_good_settings(capsys: pytest.CaptureFixture[str]):
    assert main(["config", "check"]) == 0
    assert capsys.readouterr() == (f"the settings can be used\ntz data {ZONES}\n", "")


def test_check_says_what_is_missing_without_time_zone_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("echomq_worker.cli.config_cmd.zone_data_version", lambda: "")
    assert main(["config", "check"]) == 0
    assert capsys.readouterr().out.endswith("tz data none: there is no zone but UTC\n")


def test_a_strict_check_takes_warnings_for_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ECHOMQ_CONCURENCY", "5")

    assert main(["config", "check"]) == 0
    assert "can be used, 1 warning" in capsys.readouterr().out
    assert main(["config", "check", "--strict"]) == 78
    assert "1 error, 0 warnings" in capsys.readouterr().out


def test_check_answers_in_json_as_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ECHOMQ_REDIS_URL", "redis+cluster://u:hunter2@h")
    monkeypatch.setenv("ECHOMQ_FOO", "5")

    assert main(["config", "check", "--json"]) == 78
    answer = json.loads(capsys.readouterr().out)
    assert "not yet supported" in answer["errors"][0]
    assert answer["tz_data"] == ZONES
    assert answer["warnings"] == ["ECHOMQ_FOO is not a setting. `echomq config env` lists them all"]
    assert "hunter2" not in repr(answer)


def test_show_tells_what_was_chosen_and_where(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    secret = tmp_path / "password"
    secret.write_text("hunter2-secret\n")
    monkeypatch.setenv("REDIS_URL", "rediss://app@redis.prod:6380/0")
    monkeypatch.setenv("ECHOMQ_REDIS_PASSWORD_FILE", str(secret))
    monkeypatch.setenv("ECHOMQ_LEASE", "90")

    assert main(["config", "show", "--sources"]) == 0
    out, err = capsys.readouterr()
    rows = [line.split(maxsplit=2) for line in out.splitlines()]
    assert rows == [
        ["SETTING", "VALUE", "SOURCE"],
        ["ECHOMQ_REDIS_URL", "rediss://app:***@redis.prod:6380/0", "env REDIS_URL"],
        ["ECHOMQ_REDIS_PASSWORD", "***", f"file {secret}"],
        ["ECHOMQ_LEASE", "1m30s", "env"],
    ]
    assert f"{len(declarations()) - 3} more at their defaults" in err
    assert "ECHOMQ_THREADS=32" in err
    assert "at least 27s" in err
    assert "hunter2" not in out + err


def test_show_can_tell_everything(capsys: pytest.CaptureFixture[str]):
    assert main(["config", "show", "--all", "--sources"]) == 0
    out, err = capsys.readouterr()

    for declaration in declarations().values():
        assert f"{declaration.variable} " in out
    assert "derived" in out
    assert "more at their defaults" not in err


def test_show_answers_in_json_one_setting_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ECHOMQ_REDIS_PASSWORD", "hunter2-secret")
    assert main(["config", "show", "--all", "--json"]) == 0
    out, err = capsys.readouterr()
    rows = {row["name"]: row for row in map(json.loads, out.splitlines())}

    assert rows.keys() == {declaration.variable for declaration in declarations().values()}
    assert rows["ECHOMQ_REDIS_PASSWORD"] == {
        "name": "ECHOMQ_REDIS_PASSWORD",
        "value": "***",
        "source": "env",
        "given": True,
        "secret": True,
    }
    assert rows["ECHOMQ_NODE_ID"]["value"] is None
    assert err == ""


def test_show_with_bad_settings_tells_the_problems(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ECHOMQ_LEASE", "soon")
    monkeypatch.setenv("ECHOMQ_FOO", "1")

    assert main(["config", "show"]) == 78
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ECHOMQ_LEASE: expected a duration")
    assert "warning: ECHOMQ_FOO is not a setting" in err


def test_env_prints_a_file_that_can_be_used(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["config", "env"]) == 0
    file = tmp_path / "settings.env"
    file.write_text(capsys.readouterr().out)

    assert load({}, {}, [file]).settings.concurrency == 32
    assert main(["config", "check", "--strict", "--env-file", str(file)]) == 0
