"""What people read about settings is made from the declarations."""

import re
from pathlib import Path

import echomq_worker
from echomq_worker.config import Settings, load
from echomq_worker.config.docs import env_template, settings_table
from echomq_worker.config.settings import declarations
from echomq_worker.store import ServerOptions
from echomq_worker.version import WIRE_VERSION


def test_the_table_has_one_row_for_each_setting():
    rows = [line for line in settings_table().splitlines() if line.startswith("| `ECHOMQ_")]

    assert len(rows) == len(declarations())
    for declaration in declarations().values():
        assert sum(f"| `{declaration.variable}` |" in row for row in rows) == 1
    assert all(row.count("|") == 4 for row in rows)


def test_the_table_says_where_a_secret_may_come_from_and_what_a_default_follows_from():
    table = settings_table()

    assert "the file that `ECHOMQ_REDIS_PASSWORD_FILE` names" in table
    assert "Falls back to `REDIS_URL`" in table
    assert "| a third of ECHOMQ_LEASE |" in table
    assert "| `1MiB` |" in table


def test_the_template_says_which_settings_may_come_from_a_file():
    template = env_template()

    for declaration in declarations().values():
        assert (f"{declaration.variable}_FILE" in template) == declaration.secret


def test_every_setting_is_read_by_code_that_does_what_it_says():
    package = Path(echomq_worker.__file__).parent
    declared = {"log_settings.py", "server_settings.py", "worker_settings.py", "rules.py"}
    code = "\n".join(
        path.read_text() for path in package.rglob("*.py") if path.name not in declared
    )

    for attribute, declaration in declarations().items():
        assert re.search(rf"\b(?:{attribute}|{declaration.variable})\b", code), attribute


def test_every_sentence_is_one_line_and_ends_like_a_sentence():
    for declaration in declarations().values():
        assert declaration.doc.endswith(".")
        assert "\n" not in declaration.doc


def test_the_template_changes_nothing_as_it_is(tmp_path: Path):
    path = tmp_path / "template.env"
    path.write_text(env_template())
    loaded = load({"ECHOMQ_WORKER_NAME": "w"}, {}, [path])

    assert loaded.settings == Settings(worker_name="w")
    assert loaded.warnings == ()


def test_the_template_with_every_default_uncommented_gives_the_defaults(tmp_path: Path):
    path = tmp_path / "template.env"
    path.write_text(env_template().replace("# ECHOMQ_", "ECHOMQ_"))
    loaded = load({"ECHOMQ_WORKER_NAME": "w"}, {}, [path])

    assert loaded.settings == Settings(worker_name="w")
    assert loaded.given("concurrency")
    assert len(path.read_text().splitlines()) > 2 * len(declarations())


def test_settings_and_store_speak_the_same_wire_by_default():
    assert Settings().wire_version == ServerOptions().wire_version == WIRE_VERSION
