"""Secrets: where they may come from, and that they never show."""

from pathlib import Path

import pytest

from echomq_worker.config import load
from echomq_worker.config.settings import declarations
from tests.support.settings import problems


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


def test_a_secret_is_never_quoted_neither_in_errors_nor_by_repr():
    found = problems({"ECHOMQ_REDIS_URL": "hunter2", "ECHOMQ_CONCURRENCY": "redis://:hunter2@h"})
    settings = load({"ECHOMQ_REDIS_URL": "redis://u:hunter2@h", "ECHOMQ_REDIS_PASSWORD": "hunter3"})

    assert any(line.endswith("got a value of 7 characters") for line in found)
    assert "hunter" not in repr(found)
    assert "hunter" not in repr(settings)


def test_the_values_of_secrets_are_shown_hidden():
    loaded = load({"ECHOMQ_REDIS_URL": "redis://u:hunter2@h", "ECHOMQ_REDIS_PASSWORD": "hunter3"})
    texts = {
        name: declaration.show(getattr(loaded.settings, name))
        for name, declaration in declarations().items()
        if declaration.secret
    }

    assert texts == {"redis_url": "redis://u:***@h:6379/0", "redis_password": "***"}
