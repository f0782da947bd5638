"""Settings from files of NAME=value lines."""

from pathlib import Path

import pytest

from echomq_worker.config import load
from echomq_worker.domain.queue_name import QueueWeight
from tests.support.settings import problems


def env_file(directory: Path, text: str) -> Path:
    path = directory / "settings.env"
    path.write_text(text)
    return path


def test_a_later_env_file_wins_over_an_earlier_one(tmp_path: Path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("ECHOMQ_THREADS=1\nECHOMQ_CONCURRENCY=1\n")
    second.write_text("ECHOMQ_THREADS=2\n")

    settings = load({}, env_files=[first, second]).settings

    assert (settings.threads, settings.concurrency) == (2, 1)


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
