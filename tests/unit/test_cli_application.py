"""Finding the application: what works, and what is said when it does not."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from echomq_worker import EchoMQ
from echomq_worker.cli.application import load_app
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from tests.support.processes import echomq

GOOD = "from echomq_worker import EchoMQ\napp = EchoMQ()\nclass Box:\n    inner = app\nnumber = 3\n"


@pytest.fixture(autouse=True)
def _clean_imports() -> Generator[None]:
    path, modules = sys.path[:], set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(folder: Path, name: str, text: str) -> str:
    (folder / f"{name}.py").write_text(text)
    return str(folder)


def test_an_application_is_imported_from_the_folder_named(tmp_path: Path):
    folder = write(tmp_path, "found_jobs", GOOD)

    assert isinstance(load_app("found_jobs:app", folder), EchoMQ)
    assert sys.path[0] == folder


def test_an_attribute_may_be_nested(tmp_path: Path):
    assert isinstance(
        load_app("nested_jobs:Box.inner", write(tmp_path, "nested_jobs", GOOD)), EchoMQ
    )


@pytest.mark.parametrize(
    ("spec", "complaints"),
    [
        ("ap:app", ["cannot import \"ap\": No module named 'ap'", "ECHOMQ_APP_DIR"]),
        ("ap.deep:app", ["No module named 'ap'", "ECHOMQ_APP_DIR"]),
        ("good_jobs:ap", ['has no attribute "ap"', "Did you mean good_jobs:app?"]),
        ("good_jobs:number", ["is a int: expected an application", "Did you mean good_jobs:app?"]),
        ("needy_jobs:app", ['importing "needy_jobs" failed: ModuleNotFoundError', "line 2"]),
        ("broken_jobs:app", ["failed: ZeroDivisionError: division by zero", "line 1"]),
        ("odd_jobs:app", ["failed: SyntaxError"]),
        ("leaving_jobs:app", ['importing "leaving_jobs" failed: SystemExit: 0', "line 2"]),
        ("empty_jobs:app", ['has no attribute "app"']),
    ],
)
def test_what_cannot_be_found_is_explained(spec: str, complaints: list[str], tmp_path: Path):
    write(tmp_path, "good_jobs", GOOD)
    write(tmp_path, "needy_jobs", "\nimport no_such_package_here\n")
    write(tmp_path, "broken_jobs", "1 / 0\n")
    write(tmp_path, "odd_jobs", "def :\n")
    write(tmp_path, "empty_jobs", "")
    write(tmp_path, "leaving_jobs", "import sys\nsys.exit(0)\n")

    with pytest.raises(CommandError) as caught:
        load_app(spec, str(tmp_path))

    assert caught.value.exit_code is ExitCode.CONFIG
    for complaint in complaints:
        assert complaint in str(caught.value)


def test_a_folder_that_is_none_is_named(tmp_path: Path):
    with pytest.raises(CommandError, match="no_folder is no folder: set ECHOMQ_APP_DIR"):
        load_app("jobs:app", str(tmp_path / "no_folder"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n", 0),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", 130),
        ("raise SystemExit(0)\n", 78),
    ],
)
def test_a_signal_during_the_import_is_not_taken_for_a_broken_module(
    text: str, code: int, tmp_path: Path
):
    folder = write(tmp_path, "stopping_jobs", text)

    answer = echomq("run", "stopping_jobs:app", ECHOMQ_APP_DIR=folder)

    assert answer.returncode == code, answer.stderr
    assert ("failed: SystemExit" in answer.stderr) == (code == 78)
