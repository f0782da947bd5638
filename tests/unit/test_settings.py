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
from tests.support.settings import problems


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
    assert settings.stuck_after_ms == 300_000
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
    assert load({"ECHOMQ_ALLOW_EVICTION": word}).settings.allow_eviction is True


@pytest.mark.parametrize("word", ["false", "0", "No", "off"])
def test_a_switch_can_be_turned_off_in_words(word: str):
    assert load({"ECHOMQ_UVLOOP": word}).settings.uvloop is False


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({"ECHOMQ_LEASE": "9s", "ECHOMQ_LEASE_RENEW_INTERVAL": "6s"}, "less than two thirds"),
        ({"ECHOMQ_LEASE": "9s", "ECHOMQ_STUCK_AFTER": "27s"}, "more than three times"),
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
    assert load({"ECHOMQ_LEASE": "9s", "ECHOMQ_STUCK_AFTER": "27001ms"})
    assert load({"ECHOMQ_QUEUES": "a,b,c", "ECHOMQ_REDIS_MAX_CONNECTIONS": "8"})
    assert load({"ECHOMQ_SHUTDOWN_TIMEOUT": "5s", "ECHOMQ_SHUTDOWN_CANCEL_GRACE": "5s"})


def test_settings_made_by_hand_are_held_to_the_same_rules():
    with pytest.raises(SettingsError, match="ECHOMQ_SHUTDOWN_CANCEL_GRACE"):
        Settings(shutdown_timeout_ms=1_000, shutdown_cancel_grace_ms=2_000)


def test_many_queues_get_connections_enough():
    queues = ",".join(f"q{number}" for number in range(30))

    assert load({"ECHOMQ_QUEUES": queues}).settings.redis_max_connections == 64


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
