"""What a worker says at its start, and where its settings may come from."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from echomq_worker import EchoMQ
from echomq_worker.cli.banner import banner, label, ready, unserved
from echomq_worker.cli.main import main
from echomq_worker.cli.serve import prepare, show_only
from echomq_worker.cli.session import Session
from echomq_worker.config import Settings, load
from echomq_worker.config.export import environment_of
from echomq_worker.domain.views import ServerInfo
from echomq_worker.errors import SettingsError
from echomq_worker.zones import zone_data_version

INFO = ServerInfo("valkey", "9.0.1", "redis://127.0.0.1:6379/0", "noeviction", -1)


def settings_of(**environ: str) -> Settings:
    return load(environ).settings


def application() -> EchoMQ:
    app = EchoMQ()

    @app.job("email.send")
    async def send() -> None: ...

    @app.job("report.render", queue="reports")
    async def render() -> None: ...

    @app.raw_handler(queue="legacy")
    def legacy(payload: bytes) -> None: ...

    return app


def test_the_banner_says_who_where_and_what():
    names = [label(handler) for handler in application().registry.handlers()]

    lines = list(banner(settings_of(ECHOMQ_QUEUES="mail:2,default"), names, INFO))

    assert lines[0].startswith("echomq ")
    assert lines[0].endswith(f"wire echomq:3.0.0  tz data {zone_data_version()}")
    assert lines[1] == (
        "server    valkey 9.0.1 at redis://127.0.0.1:6379/0  policy noeviction  clock -1 ms"
    )
    assert lines[2] == "handlers  email.send  report.render  legacy (raw)  (3)"
    assert lines[3] == "queues    mail:2  default  32 at once"


def test_the_banner_shows_the_schedulers_of_the_code():
    app = application()
    job = app.job("mail.sort")(lambda: None)
    for n in range(12):
        app.every("15m", name=f"mail.{n}")(job)

    lines = list(banner(settings_of(), [], INFO, app.scheduled))

    assert lines[3:5] == ["schedules mail.0  every 15m", "          mail.1  every 15m"]
    assert lines[13] == "          ... 2 more"


def test_the_last_line_says_how_to_stop():
    line = ready(settings_of(ECHOMQ_SHUTDOWN_TIMEOUT="10s"), 0.314)

    assert line == "ready in 0.31s. Ctrl-C drains (up to 10s), twice cancels."


def test_handlers_and_schedulers_whose_queue_is_not_served_are_found():
    app = application()
    app.every("15m", queue="mail", job="tidy")(lambda: None)

    assert unserved(settings_of(), app) == {
        "reports": ["report.render"],
        "legacy": ["legacy (raw)"],
        "mail": ["tidy", "scheduler tidy"],
    }


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("ECHOMQ_REDIS_URL", "redis://from-environment/0")
    return Session({"max_payload": "2KiB"})


def test_what_is_decided_in_code_counts_more_than_the_environment(session: Session):
    session.decide_in_code({"redis_url": "redis://from-code/0", "max_payload": "1KiB"})

    assert session.settings.redis_url.host == "from-code"
    assert session.settings.max_payload == 2_048


def test_what_cannot_be_used_is_said_to_come_from_where_it_was_given(session: Session):
    session.decide_in_code({"node_id": "5000"})
    session.add_flag("app", "no-app")

    with pytest.raises(SettingsError) as caught:
        _ = session.settings

    told = "\n".join(caught.value.problems)
    assert "(from EchoMQ(node_id=...))" in told
    assert "(from APP)" in told
    assert "flag" not in told


def test_a_producer_is_told_that_its_code_is_wrong():
    with pytest.raises(SettingsError, match=r"\(from EchoMQ\(node_id=\.\.\.\)\)"):
        _ = EchoMQ(node_id=5_000).client


def test_what_would_run_is_told_to_programs(capsys: pytest.CaptureFixture[str]):
    assert show_only(settings_of(ECHOMQ_QUEUES="mail:2"), application(), as_json=True) == 0

    told = json.loads(capsys.readouterr().out)
    assert {"name": "report.render", "queue": "reports"} in told["handlers"]
    assert {"name": None, "queue": "legacy"} in told["handlers"]
    assert told["schedules"] == []
    assert told["queues"] == [{"name": "mail", "weight": 2}]
    assert told["concurrency"] == 32


def test_a_worker_that_is_to_run_writes_no_answer_as_json():
    assert main(["run", "x:app", "--json"]) == 2


def test_a_suggestion_counts_only_if_nobody_has_said_anything(session: Session):
    session.suggest({"redis_url": "redis://suggested/0", "log_level": "debug"})

    assert session.settings.redis_url.host == "from-environment"
    assert session.settings.log_level == "debug"


def test_a_file_that_is_added_is_the_weakest(session: Session, tmp_path: Path):
    file = tmp_path / ".env"
    file.write_text("ECHOMQ_REDIS_URL=redis://from-file/0\nECHOMQ_LEASE=7s\n")

    session.add_env_file(file)

    assert session.settings.redis_url.host == "from-environment"
    assert session.settings.lease_ms == 7_000


@pytest.mark.usefixtures("untouched_logging", "no_settings")
def test_a_password_that_code_decides_is_hidden_in_the_logs_even_by_older_loggers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
):
    (tmp_path / "decided_app.py").write_text(
        "import structlog\n"
        "from echomq_worker import EchoMQ\n"
        "log = structlog.get_logger()\n"
        "log.info('imported')\n"
        "app = EchoMQ(redis_password='pass-of-code')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    session = Session({"app": "decided_app:app", "app_dir": str(tmp_path)})

    prepare(session, NoSignals())  # pyright: ignore[reportArgumentType]
    sys.modules.pop("decided_app").log.info("WRONGPASS for pass-of-code")

    out = capfdbinary.readouterr().out
    assert b"WRONGPASS for ***" in out
    assert b"pass-of-code" not in out


class NoSignals:
    def install(self) -> None:
        """Leave the test's process alone."""


ENVIRON: Mapping[str, str] = {
    "PATH": "/bin",
    "REDIS_URL": "redis://fallback/0",
    "ECHOMQ_REDIS_USERNAME": "me",
    "ECHOMQ_REDIS_PASSWORD": "hunter22",
    "ECHOMQ_LEASE": "7s",
    "ECHOMQ_APP": "x:y",
}


def test_a_process_that_we_start_gets_the_same_settings_from_its_environment_alone():
    loaded = load(ENVIRON, {"concurrency": "5"})

    environ = environment_of(loaded, ENVIRON, {"ECHOMQ_QUEUES": "demo"})

    again = load(environ).settings
    assert environ["PATH"] == "/bin"
    assert "REDIS_URL" not in environ
    assert (again.lease_ms, again.concurrency, again.app) == (7_000, 5, "x:y")
    assert [queue.name for queue in again.queues] == ["demo"]
    assert (again.redis_url.host, again.redis_url.username) == ("fallback", "me")
    assert again.redis_url.password == "hunter22"  # noqa: S105 - it must arrive
