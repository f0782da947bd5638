"""The README's blocks do what the README says, typed in as they stand there."""

import re
import shlex
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.processes import ROOT, Daemon, echomq, environment, eventually, start

README = (ROOT / "README.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"<!-- (file|command): (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
BLOCKS = {(kind, name): text for kind, name, text in _BLOCK.findall(README)}
FILES = [name for kind, name in BLOCKS if kind == "file"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A newcomer's folder with the files of the README in it."""
    for name in FILES:
        (tmp_path / name).write_text(BLOCKS["file", name], encoding="utf-8")
    return tmp_path


@pytest.fixture
def dev(folder: Path) -> Generator[Daemon]:
    """The worker that `echomq dev` of the README starts."""
    words = shlex.split(BLOCKS["command", "dev"])
    assert words[0] == "echomq"
    daemon = start(tuple(words[1:]), folder, {"ECHOMQ_APP_DIR": str(folder)})
    yield daemon
    daemon.stop()


def printed_url(dev: Daemon) -> str:
    """The address that `dev` prints for other commands."""
    found: list[str] = []

    def shown() -> bool:
        found[:] = re.findall(r"export ECHOMQ_REDIS_URL='([^']+)'", dev.said())
        return bool(found) and "ready in" in dev.said()

    assert eventually(shown), dev.said()
    return found[0]


def test_the_first_job_runs_by_the_commands_that_are_given(folder: Path, dev: Daemon):
    words = shlex.split(BLOCKS["command", "enqueue"])

    done = echomq(*words[1:], "--json", cwd=folder, ECHOMQ_REDIS_URL=printed_url(dev))

    assert done.returncode == 0, done.stderr
    assert "completed" in done.stdout


def test_the_enqueuing_program_sends_what_it_says(folder: Path, dev: Daemon):
    url = printed_url(dev)

    done = subprocess.run(
        [sys.executable, "enqueue.py"],
        cwd=folder,
        env=environment(ECHOMQ_REDIS_URL=url) | {"PYTHONPATH": f"{ROOT}:{folder}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert re.match(r"JOB\w{11} \w+", done.stdout)
    assert eventually(lambda: "1003 completed" in dev_counts(folder, url)), dev_counts(folder, url)


def test_the_program_about_tenants_sets_what_it_says(folder: Path, dev: Daemon):
    url = printed_url(dev)

    done = subprocess.run(
        [sys.executable, "tenants.py"],
        cwd=folder,
        env=environment(ECHOMQ_REDIS_URL=url) | {"PYTHONPATH": f"{ROOT}:{folder}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "name='acme'" in done.stdout
    for told in ("limit=4", "weight=3", "maximum=10000", "reason='unpaid'"):
        assert told in done.stdout


def test_the_program_about_keys_prints_what_it_says(folder: Path, dev: Daemon):
    done = subprocess.run(
        [sys.executable, "unique.py"],
        cwd=folder,
        env=environment(ECHOMQ_REDIS_URL=printed_url(dev)) | {"PYTHONPATH": f"{ROOT}:{folder}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"True False held\nJOB\w{11}\n", done.stdout)


def test_the_program_about_priorities_sends_what_it_says(folder: Path, dev: Daemon):
    url = printed_url(dev)

    done = subprocess.run(
        [sys.executable, "urgent.py"],
        cwd=folder,
        env=environment(ECHOMQ_REDIS_URL=url) | {"PYTHONPATH": f"{ROOT}:{folder}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert eventually(lambda: "1 completed" in dev_counts(folder, url)), dev_counts(folder, url)


def dev_counts(folder: Path, url: str) -> str:
    """What `echomq stats` counts: completed jobs, in words."""
    shown = echomq("stats", "--json", cwd=folder, ECHOMQ_REDIS_URL=url)
    found = re.search(r'"completed":\s*(\d+)', shown.stdout)
    return f"{found[1] if found else 'nothing'} completed"


@pytest.mark.parametrize(("name", "passed"), [("test_jobs.py", 1), ("test_schedules.py", 2)])
def test_the_tests_of_the_readme_pass(folder: Path, name: str, passed: int):
    options = ("-q", "-o", "asyncio_mode=auto", "-p", "no:cacheprovider")

    done = subprocess.run(  # noqa: S603 - the README's own test
        [sys.executable, "-m", "pytest", *options, name],
        cwd=folder,
        env=environment() | {"PYTHONPATH": f"{ROOT}:{folder}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert f"{passed} passed" in done.stdout, done.stdout + done.stderr


def test_the_schedulers_of_the_readme_can_be_declared(folder: Path):
    program = "from schedules import app; print(*(s.spec.rule.describe() for s in app.scheduled))"

    done = subprocess.run(  # noqa: S603 - the README's own code
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment() | {"PYTHONPATH": f"{ROOT}:{folder}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout == "at 09:00 on Monday to Friday, Europe/Berlin every 30s\n", done.stderr


def test_what_schedule_next_says_is_what_it_is_shown_to_say():
    (shown,) = re.findall(r"```text\n\$ (echomq schedule [^\n]*)\n(.*?)```", README, re.DOTALL)
    command, said = shown

    done = echomq(*shlex.split(command)[1:])

    # How far away it is depends on the day.
    said, told = (
        re.sub(r"in \S+|\S+ ago", "…", text) for text in (said, done.stdout + done.stderr)
    )
    assert [line.split() for line in said.splitlines()] == [
        line.split() for line in told.splitlines()
    ]


def test_every_command_that_the_readme_names_exists():
    named = set(re.findall(r"(?<![\w.-])(?<!SETUSER )echomq ([a-z]+)", README))

    listed = echomq("--help").stdout

    assert named > {"demo", "dev", "run", "job"}
    assert {word for word in named if f"\n  {word} " not in listed} == set()
