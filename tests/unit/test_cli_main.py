"""The command line as a whole: errors in one line, exit codes, and a quick start."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from echomq_worker import errors
from echomq_worker.cli import group
from echomq_worker.cli.exit_codes import CommandError, ExitCode, exit_code
from echomq_worker.cli.main import main
from echomq_worker.version import __version__
from tests.support.command_line import Run

pytestmark = pytest.mark.usefixtures("no_settings")


def raising(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.SettingsError(["x"]), 78),
        (errors.WireVersionError("x", found="a", own="b"), 78),
        (errors.EvictionPolicyError("x"), 78),
        (errors.HandlerError("x"), 78),
        (errors.AccessError("x"), 77),
        (errors.UnavailableError("x"), 69),
        (errors.EmbeddedServerError("x"), 69),
        (errors.OutOfMemoryError("x"), 5),
        (errors.WrongTypeError("x"), 5),
        (errors.DuplicateJobError("x"), 5),
        (errors.CorruptSchedulerError("x"), 5),
        (errors.UnknownHandlerError("x"), 3),
        (errors.UnknownSchedulerError("x"), 3),
        (errors.ResultUnavailableError("x"), 3),
        (errors.InvalidQueueError("x"), 2),
        (errors.InvalidIdError("x"), 2),
        (errors.CronError("x"), 2),
        (errors.UnknownZoneError("x"), 2),
        (errors.ArgumentsError("x"), 2),
        (errors.PayloadTooLargeError("x"), 2),
        (errors.ResultTimeoutError("x"), 1),
        (CommandError("x", ExitCode.PARTLY), 4),
    ],
)
def test_every_error_has_its_exit_code(error: errors.EchoMQError, code: int):
    assert exit_code(error) == code


def test_an_error_is_one_line_and_a_hint(run_as: Run, capsys: pytest.CaptureFixture[str]):
    code = run_as(raising(CommandError("no queue mail", ExitCode.NOT_FOUND, hint="try mails")))

    assert code == 3
    assert capsys.readouterr() == ("", "error: no queue mail\nhint: try mails\n")


def test_an_error_of_a_server_shows_no_password(run_as: Run, capsys: pytest.CaptureFixture[str]):
    code = run_as(raising(errors.UnavailableError("cannot reach redis://u:hunter2@h:1/0")))

    assert code == 69
    assert capsys.readouterr().err == "error: cannot reach redis://u:***@h:1/0\n"


def test_an_error_cannot_send_codes_to_the_terminal(
    run_as: Run, capsys: pytest.CaptureFixture[str]
):
    run_as(raising(CommandError("\x1b[2Jgone\x07", ExitCode.FAILED)))

    assert capsys.readouterr().err == "error: \\x1b[2Jgone\\x07\n"


def test_a_traceback_is_shown_only_when_asked_for(
    run_as: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    error = errors.UnavailableError("down")
    run_as(raising(error))
    assert "Traceback" not in capsys.readouterr().err

    monkeypatch.setenv("ECHOMQ_DEBUG", "true")
    assert run_as(raising(error)) == 69
    assert "Traceback" in capsys.readouterr().err


def test_an_unexpected_error_shows_its_traceback_without_local_variables(
    run_as: Run, capsys: pytest.CaptureFixture[str]
):
    def fail() -> None:
        hidden = "hunter2-local"
        raise RuntimeError(len(hidden))

    assert run_as(fail) == 1
    told = capsys.readouterr().err
    assert "error: unexpected RuntimeError: 13" in told
    assert "raise RuntimeError" in told
    assert "hunter2" not in told


def test_ctrl_c_is_130_and_a_declined_question_is_1(run_as: Run):
    assert run_as(raising(KeyboardInterrupt())) == 130
    assert run_as(raising(click.Abort())) == 1


def test_a_command_that_returns_a_number_exits_with_it(run_as: Run):
    assert run_as(lambda: ExitCode.PARTLY) == 4
    assert run_as(lambda: None) == 0


def test_a_bad_command_line_is_2_and_says_where_to_look(capsys: pytest.CaptureFixture[str]):
    assert main(["config", "show", "--nonsense"]) == 2
    told = capsys.readouterr().err
    assert "nonsense" in told
    assert "hint: `echomq config show --help`" in told


def test_a_misspelt_command_is_answered_with_the_nearest_one(capsys: pytest.CaptureFixture[str]):
    assert main(["confg"]) == 2
    assert "Did you mean config?" in capsys.readouterr().err


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().err


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, (_, line) in group.COMMANDS.items():
        assert name in shown
        assert line in shown


@pytest.mark.parametrize("name", list(group.COMMANDS))
def test_every_command_of_the_table_exists_and_has_help(
    name: str, capsys: pytest.CaptureFixture[str]
):
    try:
        code: object = main([name, "--help"])
    except SystemExit as stop:
        code = stop.code
    assert code == 0
    assert "usage" in capsys.readouterr().out.lower()


def test_the_version_is_told_in_words_and_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["version"]) == 0
    assert f"echomq {__version__}  python 3." in capsys.readouterr().out
    assert main(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["wire"] == "echomq:3.0.0"


def test_health_is_reached_by_both_ways(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("ECHOMQ_HEALTH_FILE", str(tmp_path / "absent"))
    arguments = ["health", "--live", "--timeout", "0"]

    assert main(arguments) == 1
    assert group.echomq.main(arguments, standalone_mode=False) == 1
    assert capsys.readouterr().out.count("absent does not exist") == 2


def test_a_delay_that_is_none_is_told_without_a_server(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ECHOMQ_REDIS_URL", "redis://127.0.0.1:1/0")

    assert main(["job", "enqueue", "x", "--delay", "nan"]) == 2
    assert "is no duration" in capsys.readouterr().err


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a command loads beyond those of `import echomq_worker`."""
    code = (
        "import sys, echomq_worker; before = set(sys.modules)\n"
        "from echomq_worker.cli.main import main\n"
        f"try: main({list(arguments)!r})\n"
        "except SystemExit: pass\n"
        "print('LOADED', *sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.rpartition("LOADED")[2].split())


def test_help_loads_no_command_and_a_probe_not_even_click():
    assert {name for name in loaded_by("--help") if name.startswith("echomq_worker.")} == {
        "echomq_worker.cli",
        "echomq_worker.cli.exit_codes",
        "echomq_worker.cli.group",
        "echomq_worker.cli.main",
        "echomq_worker.cli.words",
        "echomq_worker.errors",
    }
    probe = loaded_by("health")
    assert "echomq_worker.health" in probe
    assert "click" not in probe


@pytest.mark.parametrize("arguments", [["version"], ["config", "env"]])
def test_commands_that_need_no_server_do_not_load_its_client(arguments: list[str]):
    assert not {"redis", "structlog.dev"} & loaded_by(*arguments)


def test_python_dash_m_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "echomq_worker", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == f"echomq {__version__}\n"
