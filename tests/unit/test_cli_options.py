"""Options that commands share, and the session that they make."""

import os
from pathlib import Path

import click
import pytest

from echomq_worker.cli.options import queue_option, with_session, with_worker_session
from echomq_worker.cli.session import Session
from echomq_worker.config.declare import Group
from echomq_worker.config.settings import declarations
from tests.support.command_line import Run

pytestmark = pytest.mark.usefixtures("no_settings")


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
    assert settings.allow_eviction is False


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


@pytest.mark.usefixtures("no_settings")
@pytest.mark.parametrize("by_file", [True, False])
def test_a_secret_of_the_environment_hides_the_other_way_to_give_it_in_a_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    by_file: bool,  # noqa: FBT001
):
    secret, file = tmp_path / "secret", tmp_path / "x.env"
    secret.write_text("of-a-file")
    given = ("ECHOMQ_REDIS_PASSWORD_FILE", str(secret)), ("ECHOMQ_REDIS_PASSWORD", "plain")
    strong, weak = given if by_file else given[::-1]
    monkeypatch.setenv(*strong)
    file.write_text(f"{weak[0]}={weak[1]}\n")
    checked = Session({}, [file]).settings

    Session({}, [file]).share_env_files()

    assert weak[0] not in os.environ
    assert Session({}, [file]).settings.redis_password == checked.redis_password
