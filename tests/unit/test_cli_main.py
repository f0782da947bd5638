"""The command line as a whole: errors in one line, exit codes, and a quick start."""

import json
import os
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
from echomq_worker.cli.options import queue_option, with_session, with_worker_session
from echomq_worker.cli.session import Session
from echomq_worker.config.declare import Group
from echomq_worker.config.settings import declarations
from echomq_worker.version import __version__

Run = Callable[..., int]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("ECHOMQ_") or name == "REDIS_URL":
            monkeypatch.delenv(name)


@pytest.fixture
def run_as(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a function as the only command there is."""

    def run(function: Callable[..., object], *arguments: str) -> int:
        command = function if isinstance(function, click.Command) else click.command("do")(function)
        monkeypatch.setattr(sys.modules[__name__], "CURRENT", command, raising=False)
        monkeypatch.setattr(group, "COMMANDS", {"do": (f"{__name__}:CURRENT", "Do it.")})
        return main(["do", *arguments])

    return run


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
        (errors.UnknownHandlerError("x"), 3),
        (errors.ResultUnavailableError("x"), 3),
        (errors.InvalidQueueError("x"), 2),
        (errors.InvalidIdError("x"), 2),
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


def test_a_session_takes_the_flags_and_files_of_its_command(
    run_as: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "x.env"
    file.write_text("ECHOMQ_CONCURRENCY=7\nECHOMQ_THREADS=8\n")
    monkeypatch.setenv("ECHOMQ_THREADS", "9")
    seen: list[Session] = []

    @click.command()
    @with_session
    def client(session: Session) -> None:
        seen.append(session)

    assert run_as(client, "-u", "redis://flag", "--env-file", str(file)) == 0
    settings = seen[0].settings
    assert settings.redis_url.host == "flag"
    assert (settings.concurrency, settings.threads) == (7, 9)


def test_a_worker_has_a_flag_for_every_setting_that_is_no_password(run_as: Run):
    seen: list[Session] = []

    @click.command()
    @click.argument("app")
    @with_worker_session()
    def work(session: Session, app: str) -> None:
        session.add_flag("app", app)
        seen.append(session)

    flags = {option for parameter in work.params for option in parameter.opts}
    wanted = {declaration.flag for declaration in declarations().values()}
    assert wanted - flags == {"--app", "--redis-password"}

    assert run_as(work, "a:b", "-c", "5", "-q", "x:2,y", "--lease", "9s", "--no-uvloop") == 0
    settings = seen[0].settings
    assert (settings.app, settings.concurrency, settings.lease_ms) == ("a:b", 5, 9_000)
    assert str(settings.queues[0]) == "x:2"
    assert settings.uvloop is False
    assert settings.log_payloads is False


def test_a_command_may_take_the_flags_of_some_groups_only():
    @click.command()
    @with_worker_session(Group.LOGS)
    def logs(session: Session) -> None:
        del session

    flags = {option for parameter in logs.params for option in parameter.opts}
    assert "--log-level" in flags
    assert "--concurrency" not in flags


def test_a_bad_flag_is_named_with_its_variable(run_as: Run, capsys: pytest.CaptureFixture[str]):
    @click.command()
    @with_worker_session(Group.WORKER)
    def work(session: Session) -> None:
        assert session.settings

    assert run_as(work, "--concurrency", "ten") == 78
    assert capsys.readouterr().err == (
        "error: ECHOMQ_CONCURRENCY: expected a whole number from 1 to 1000, got "
        '"ten" (from flag --concurrency)\n'
    )


def test_a_queue_option_is_checked(run_as: Run, capsys: pytest.CaptureFixture[str]):
    @click.command()
    @queue_option()
    def look(queue: str) -> None:
        click.echo(queue)

    assert run_as(look, "-q", "mail") == 0
    assert run_as(look) == 0
    assert run_as(look, "--queue", "a{b") == 2
    out, err = capsys.readouterr()
    assert out == "mail\ndefault\n"
    assert "cannot name a queue" in err


def test_variables_of_env_files_are_shared_with_the_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("SHARED_ONE=first\nSHARED_TWO=first\nSHARED_ONE=last\n")
    second.write_text("SHARED_TWO=second\nSHARED_THREE=second\n")
    monkeypatch.setenv("SHARED_THREE", "own")
    monkeypatch.setenv("SHARED_ONE", "")
    monkeypatch.setenv("SHARED_TWO", "")
    Session({}, [first, second]).share_env_files()

    assert [os.environ[f"SHARED_{name}"] for name in ("ONE", "TWO", "THREE")] == [
        "last",
        "second",
        "own",
    ]


def test_warnings_are_told_once_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ECHOMQ_CONCURENCY", "5")
    session = Session()
    assert session.settings is session.settings

    assert capsys.readouterr() == (
        "",
        "warning: ECHOMQ_CONCURENCY is not a setting. Did you mean ECHOMQ_CONCURRENCY?\n",
    )
