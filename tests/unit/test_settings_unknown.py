"""Variables that look like settings and are none."""

import re
from pathlib import Path

import pytest

from echomq_worker.config import load
from echomq_worker.config.settings import declarations
from echomq_worker.errors import SettingsError
from tests.support.settings import problems


def env_file(directory: Path, text: str) -> Path:
    path = directory / "settings.env"
    path.write_text(text)
    return path


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
