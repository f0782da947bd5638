"""Settings: where values come from and what is said about bad ones."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.config import Loaded, Settings, load
from echomq_worker.config.settings import declarations
from echomq_worker.domain.queue_name import QueueWeight
from echomq_worker.errors import SettingsError


def problems(
    environ: dict[str, str], flags: dict[str, str | None] | None = None, *files: Path
) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(environ, flags, files)
    return caught.value.problems


def env_file(directory: Path, text: str) -> Path:
    path = directory / "settings.env"
    path.write_text(text)
    return path


def test_without_anything_given_every_setting_has_its_default():
    loaded = load({})
    settings = loaded.settings

    assert settings == replace(Settings(), worker_name=settings.worker_name)
    assert settings.queues == (QueueWeight("default", 1),)
    assert settings.redis_url.for_client() == "redis://127.0.0.1:6379/0"
    assert (settings.concurrency, settings.lease_ms, settings.max_payload) == (32, 10_000, 1 << 20)
    assert not any(loaded.given(attribute) for attribute in declarations())


def test_defaults_that_follow_from_other_settings_follow_them():
    settings = load({"ECHOMQ_CONCURRENCY": "40", "ECHOMQ_LEASE": "9s"}).settings

    assert settings.threads == 40
    assert settings.redis_max_connections == 44
    assert settings.lease_renew_interval_ms == 3_000
    assert re.fullmatch(r"[A-Za-z0-9.-]+:[0-9]+", settings.worker_name)


def test_a_short_shutdown_leaves_a_fifth_of_it_for_cancelling():
    assert load({}).settings.shutdown_cancel_grace_ms == 5_000
    assert load({"ECHOMQ_SHUTDOWN_TIMEOUT": "10"}).settings.shutdown_cancel_grace_ms == 2_000
    assert load({"ECHOMQ_SHUTDOWN_TIMEOUT": "2m"}).settings.shutdown_cancel_grace_ms == 5_000
    assert load({"ECHOMQ_SHUTDOWN_CANCEL_GRACE": "0"}).settings.shutdown_cancel_grace_ms == 0


def test_a_flag_wins_over_the_environment_which_wins_over_an_env_file(tmp_path: Path):
    file = env_file(tmp_path, "ECHOMQ_CONCURRENCY=1\nECHOMQ_THREADS=2\nECHOMQ_BEAT=3s\n")
    loaded = load(
        {"ECHOMQ_CONCURRENCY": "10", "ECHOMQ_THREADS": "20"}, {"concurrency": "100"}, [file]
    )

    assert loaded.settings.concurrency == 100
    assert loaded.settings.threads == 20
    assert loaded.settings.beat_ms == 3_000
    assert str(loaded.sources["concurrency"]) == "flag --concurrency"
    assert str(loaded.sources["threads"]) == "env"
    assert str(loaded.sources["beat_ms"]) == f"env file {file}:3"
    assert str(loaded.sources["lease_ms"]) == "default"


def test_a_later_env_file_wins_over_an_earlier_one(tmp_path: Path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("ECHOMQ_THREADS=1\nECHOMQ_CONCURRENCY=1\n")
    second.write_text("ECHOMQ_THREADS=2\n")

    settings = load({}, env_files=[first, second]).settings

    assert (settings.threads, settings.concurrency) == (2, 1)


def test_not_given_is_not_the_same_as_given_as_the_default(tmp_path: Path):
    file = env_file(tmp_path, "ECHOMQ_CONCURRENCY=5\n")

    assert load({}, {"concurrency": None}, [file]).settings.concurrency == 5
    assert load({"ECHOMQ_CONCURRENCY": "32"}, {}, [file]).settings.concurrency == 32
    assert load({"ECHOMQ_CONCURRENCY": "32"}).given("concurrency")


def test_an_empty_text_is_not_set_wherever_it_stands(tmp_path: Path):
    file = env_file(tmp_path, "ECHOMQ_LEASE=\n")
    loaded = load({"ECHOMQ_CONCURRENCY": "", "ECHOMQ_NONSENSE": ""}, {"threads": ""}, [file])

    assert not any(map(loaded.given, ("concurrency", "threads", "lease_ms")))
    assert loaded.warnings == ()


def test_the_url_falls_back_to_redis_url_and_nothing_else_does(tmp_path: Path):
    file = env_file(tmp_path, "REDIS_URL=redis://file\nREDIS_PASSWORD=x\n")

    assert load({}, {}, [file]).settings.redis_url.host == "file"
    loaded = load({"REDIS_URL": "redis://env", "CONCURRENCY": "3"}, {}, [file])
    assert loaded.settings.redis_url.host == "env"
    assert str(loaded.sources["redis_url"]) == "env REDIS_URL"
    assert loaded.settings.concurrency == 32
    own = env_file(tmp_path, "ECHOMQ_REDIS_URL=redis://own\n")
    assert load({"REDIS_URL": "redis://env"}, {}, [own]).settings.redis_url.host == "own"


def test_a_secret_may_come_from_a_file_less_one_line_end(tmp_path: Path):
    secret = tmp_path / "password"
    secret.write_bytes(b" p w \r\n")
    loaded = load({"ECHOMQ_REDIS_PASSWORD_FILE": str(secret), "ECHOMQ_REDIS_URL": "redis://u@h"})

    assert loaded.settings.redis_password == " p w "  # noqa: S105
    assert loaded.settings.redis_url.for_client() == "redis://u:%20p%20w%20@h:6379/0"
    assert str(loaded.sources["redis_password"]) == f"file {secret}"


def test_a_secret_and_its_file_at_once_is_an_error(tmp_path: Path):
    secret = tmp_path / "password"
    secret.write_text("hunter2")
    found = problems(
        {"ECHOMQ_REDIS_PASSWORD": "hunter1", "ECHOMQ_REDIS_PASSWORD_FILE": str(secret)}
    )

    assert found == [
        (
            "ECHOMQ_REDIS_PASSWORD: both it and ECHOMQ_REDIS_PASSWORD_FILE are set: "
            "expected one of them"
        )
    ]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * 65_537, b"\n", None])
def test_a_secret_file_that_cannot_be_used_is_named_and_not_quoted(
    tmp_path: Path, content: bytes | None
):
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    (found,) = problems({"ECHOMQ_REDIS_URL_FILE": str(path)})

    assert found.startswith(f"ECHOMQ_REDIS_URL: ECHOMQ_REDIS_URL_FILE names {path}, which ")
    assert "xxx" not in found


def test_all_problems_are_told_at_once_each_with_its_variable():
    found = problems(
        {
            "ECHOMQ_CONCURRENCY": "ten",
            "ECHOMQ_SHUTDOWN_TIMEOUT": "20",
            "ECHOMQ_SHUTDOWN_CANCEL_GRACE": "30s",
            "ECHOMQ_QUEUES": "a,a",
        }
    )

    assert found == [
        'ECHOMQ_QUEUES: queue a is named twice, got "a,a"',
        'ECHOMQ_CONCURRENCY: expected a whole number from 1 to 1000, got "ten"',
        "ECHOMQ_SHUTDOWN_CANCEL_GRACE: 30s is longer than ECHOMQ_SHUTDOWN_TIMEOUT (20s)",
    ]


def test_an_unreadable_setting_brings_no_complaints_about_its_default():
    assert problems({"ECHOMQ_LEASE": "soon", "ECHOMQ_LEASE_RENEW_INTERVAL": "1h"}) == [
        (
            "ECHOMQ_LEASE: expected a duration from 100ms to 1d, such as 30s, 500ms or 1h30m, "
            'got "soon"'
        )
    ]


def test_the_source_of_a_bad_value_is_told_if_it_is_not_the_environment(tmp_path: Path):
    file = env_file(tmp_path, "\nECHOMQ_THREADS=0\n")
    found = problems({}, {"concurrency": "0"}, file)

    assert any(line.endswith('got "0" (from flag --concurrency)') for line in found)
    assert any(line.endswith(f'got "0" (from env file {file}:2)') for line in found)


def test_a_secret_is_never_quoted_neither_in_errors_nor_by_repr():
    found = problems({"ECHOMQ_REDIS_URL": "hunter2", "ECHOMQ_CONCURRENCY": "redis://:hunter2@h"})
    settings = load({"ECHOMQ_REDIS_URL": "redis://u:hunter2@h", "ECHOMQ_REDIS_PASSWORD": "hunter3"})

    assert any(line.endswith("got a value of 7 characters") for line in found)
    assert "hunter" not in repr(found)
    assert "hunter" not in repr(settings)


@pytest.mark.parametrize(
    ("variable", "bad"),
    [
        ("APP", "myproject"), ("APP", "my-project:app"), ("APP", ":app"),
        ("REDIS_TLS_CA_PATH", "/nonexistent/ca.pem"), ("REDIS_TLS_CA_PATH", "\0"),
        ("REDIS_TIMEOUT", "-1"), ("REDIS_TIMEOUT", "nan"), ("REDIS_TIMEOUT", "0"),
        ("REDIS_MAX_CONNECTIONS", "1.5"), ("REDIS_STARTUP_TIMEOUT", "2d"),
        ("NODE_ID", "1024"), ("NODE_ID", "-1"), ("NODE_ID", "٣"),
        ("WORKER_NAME", "a b"), ("WORKER_NAME", "x" * 129),
        ("QUEUES", "emq"), ("QUEUES", ","), ("QUEUES", "a:0"),
        ("QUEUE_ORDER", "random"), ("CONCURRENCY", "0"), ("CONCURRENCY", "1001"),
        ("CONCURRENCY", "1e1"), ("CONCURRENCY", "9" * 5000),
        ("MAX_PAYLOAD", "1MB"), ("MAX_PAYLOAD", "1TiB"), ("WIRE_VERSION", "3.0.0"),
        ("WIRE_VERSION", "echomq:3.0.0\n4"), ("JOB_TIMEOUT", "366d"),
        ("LOG_LEVEL", "verbose"), ("LOG_LEVELS", "redis"), ("LOG_LEVELS", "redis=loud"),
        ("LOG_LEVELS", "redis=info,redis=debug"), ("LOG_FORMAT", "xml"),
        ("REDACT_KEYS", "a,,b"), ("UVLOOP", "maybe"), ("STRICT", "2"), ("LOG_EVENTS", "many"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_with_what_was_expected(variable: str, bad: str):
    (found,) = problems({f"ECHOMQ_{variable}": bad})

    assert found.startswith(f"ECHOMQ_{variable}: ")
    assert ", got " in found
    assert "\n" not in found
    assert len(found) < 400


@pytest.mark.parametrize("word", ["true", "1", "YES", "On", " true "])
def test_a_switch_understands_the_usual_words(word: str):
    assert load({"ECHOMQ_LOG_PAYLOADS": word}).settings.log_payloads is True


@pytest.mark.parametrize("word", ["false", "0", "No", "off"])
def test_a_switch_can_be_turned_off_in_words(word: str):
    assert load({"ECHOMQ_UVLOOP": word}).settings.uvloop is False


def test_a_misspelt_variable_is_warned_of_with_a_suggestion():
    loaded = load({"ECHOMQ_CONCURENCY": "5", "ECHOMQ_FOO": "1", "ECHOMQ_CONCURRENCY_FILE": "x"})

    assert loaded.warnings == (
        "ECHOMQ_CONCURENCY is not a setting. Did you mean ECHOMQ_CONCURRENCY?",
        (
            "ECHOMQ_CONCURRENCY_FILE is not a setting: only secrets are read from files. "
            "Set ECHOMQ_CONCURRENCY itself"
        ),
        "ECHOMQ_FOO is not a setting. `echomq config env` lists them all",
    )


def test_a_strict_reader_takes_a_misspelt_variable_for_an_error(tmp_path: Path):
    file = env_file(tmp_path, "ECHOMQ_CONCURENCY=5\n")

    assert len(problems({"ECHOMQ_CONCURENCY": "5", "ECHOMQ_STRICT": "yes"})) == 1
    with pytest.raises(SettingsError, match="Did you mean ECHOMQ_CONCURRENCY"):
        load({}, {}, [file], strict=True)


@pytest.mark.parametrize(
    "name",
    [
        "ECHOMQ_SERVICE_HOST", "ECHOMQ_PORT", "ECHOMQ_DASHBOARD_PORT",
        "ECHOMQ_DASHBOARD_SERVICE_HOST", "ECHOMQ_DASHBOARD_SERVICE_PORT",
        "ECHOMQ_DASHBOARD_SERVICE_PORT_HTTP", "ECHOMQ_REDIS_PORT_6379_TCP",
        "ECHOMQ_REDIS_PORT_6379_TCP_ADDR", "ECHOMQ_REDIS_PORT_6379_TCP_PROTO",
        "ECHOMQ_REDIS_PORT_6379_TCP_PORT", "ECHOMQ_TEST_REDIS_URL",
    ],
)  # fmt: skip
def test_names_that_kubernetes_makes_up_are_passed_over(name: str):
    loaded = load({name: "tcp://10.0.0.7:8080", "ECHOMQ_STRICT": "true"})

    assert loaded.warnings == ()


def test_no_setting_has_a_name_that_something_else_would_set():
    for declaration in declarations().values():
        assert not re.search(r"_(HOST|PORT|SERVICE)(_|$)", declaration.variable)
        assert declaration.variable == "ECHOMQ_HEALTH_FILE" or not declaration.variable.endswith(
            "_FILE"
        )


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({"ECHOMQ_LEASE": "9s", "ECHOMQ_LEASE_RENEW_INTERVAL": "6s"}, "less than two thirds"),
        ({"ECHOMQ_QUEUES": "a,b,c", "ECHOMQ_REDIS_MAX_CONNECTIONS": "7"}, "at least 8"),
        ({"ECHOMQ_REDIS_URL": "redis+sentinel://h/main"}, "sentinel URLs are not yet supported"),
        ({"ECHOMQ_REDIS_URL": "rediss+cluster://h"}, "cluster URLs are not yet supported"),
        ({"ECHOMQ_REDIS_TLS_CA_PATH": __file__}, "does not use TLS"),
        (
            {"ECHOMQ_REDIS_URL": "rediss://h", "ECHOMQ_REDIS_TLS_KEY_PATH": __file__},
            "needs ECHOMQ_REDIS_TLS_CERT_PATH",
        ),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(environ: dict[str, str], problem: str):
    (found,) = problems(environ)

    assert problem in found


def test_settings_at_the_edge_of_a_rule_are_accepted():
    assert load({"ECHOMQ_LEASE": "9s", "ECHOMQ_LEASE_RENEW_INTERVAL": "5999ms"})
    assert load({"ECHOMQ_QUEUES": "a,b,c", "ECHOMQ_REDIS_MAX_CONNECTIONS": "8"})
    assert load({"ECHOMQ_SHUTDOWN_TIMEOUT": "5s", "ECHOMQ_SHUTDOWN_CANCEL_GRACE": "5s"})


def test_settings_made_by_hand_are_held_to_the_same_rules():
    with pytest.raises(SettingsError, match="ECHOMQ_SHUTDOWN_CANCEL_GRACE"):
        Settings(shutdown_timeout_ms=1_000, shutdown_cancel_grace_ms=2_000)


def test_many_queues_get_connections_enough():
    queues = ",".join(f"q{number}" for number in range(30))

    assert load({"ECHOMQ_QUEUES": queues}).settings.redis_max_connections == 64


def test_an_env_file_has_comments_quotes_and_exports(tmp_path: Path):
    file = env_file(
        tmp_path,
        "\ufeff# a comment\n"
        "\n"
        "export ECHOMQ_QUEUES = 'a:2,b'  # the queues\n"
        'ECHOMQ_REDIS_PASSWORD="p\\"w\\n#1 $HOME"\r\n'
        "ECHOMQ_WORKER_NAME=w-1 # trailing\n"
        "ECHOMQ_APP_DIR=a#b\n"
        "OTHER=1\n",
    )
    settings = load({}, {}, [file]).settings

    assert settings.queues == (QueueWeight("a", 2), QueueWeight("b"))
    assert settings.redis_password == 'p"w\n#1 $HOME'  # noqa: S105
    assert settings.worker_name == "w-1"
    assert settings.app_dir == "a#b"


@pytest.mark.parametrize(
    "text", ["ECHOMQ_X", "hunter2", "1X=hunter2", 'X="hunter2', "X='a' hunter2", "=hunter2"]
)
def test_a_bad_line_of_an_env_file_is_named_by_its_number_only(tmp_path: Path, text: str):
    file = env_file(tmp_path, f"OK=1\n{text}\n")
    (found,) = problems({}, {}, file)

    assert found.startswith(f"env file {file} line 2: expected NAME=value")
    assert "hunter2" not in found


def test_an_env_file_that_cannot_be_read_is_an_error(tmp_path: Path):
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xff")
    large = tmp_path / "large"
    large.write_bytes(b"#" * ((1 << 20) + 1))

    assert "cannot be read" in problems({}, {}, tmp_path / "absent")[0]
    assert "cannot be read" in problems({}, {}, tmp_path)[0]
    assert "not UTF-8" in problems({}, {}, binary)[0]
    assert "larger than" in problems({}, {}, large)[0]


def shown(loaded: Loaded) -> dict[str, str]:
    return {
        declaration.variable: text
        for attribute, declaration in declarations().items()
        if (text := declaration.show(getattr(loaded.settings, attribute)))
        and not declaration.secret
    }


def test_every_value_reads_back_from_what_is_shown_of_it():
    loaded = load(
        {
            "ECHOMQ_APP": "a.b:c.d", "ECHOMQ_QUEUES": "x:3,y", "ECHOMQ_LEASE": "90",
            "ECHOMQ_LOG_LEVELS": "redis=warning,a.b=debug", "ECHOMQ_MAX_PAYLOAD": "65536",
            "ECHOMQ_NODE_ID": "0", "ECHOMQ_UVLOOP": "off", "ECHOMQ_REDACT_KEYS": "iban, pin",
        }
    )  # fmt: skip

    assert shown(loaded)["ECHOMQ_LEASE"] == "1m30s"
    assert shown(loaded)["ECHOMQ_NODE_ID"] == "0"
    assert load(shown(loaded)).settings == loaded.settings


def test_the_values_of_secrets_are_shown_hidden():
    loaded = load({"ECHOMQ_REDIS_URL": "redis://u:hunter2@h", "ECHOMQ_REDIS_PASSWORD": "hunter3"})
    texts = {
        name: declaration.show(getattr(loaded.settings, name))
        for name, declaration in declarations().items()
        if declaration.secret
    }

    assert texts == {"redis_url": "redis://u:***@h:6379/0", "redis_password": "***"}


@given(
    st.dictionaries(
        st.sampled_from([declaration.variable for declaration in declarations().values()]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
        max_size=6,
    )
)
def test_whatever_is_given_the_answer_is_settings_or_a_list_of_problems(environ: dict[str, str]):
    problems: list[str] = []
    try:
        assert isinstance(load(environ).settings, Settings)
    except SettingsError as error:
        problems = error.problems
    assert all(line.startswith("ECHOMQ_") and "\n" not in line for line in problems)
