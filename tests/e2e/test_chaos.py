"""The chaos harness itself: it must notice a product that breaks its promises."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import ROOT, environment

SHORT = ("--minutes", "0.2", "--seed", "3", "--workers", "2")


def chaos(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    report = folder / "report.json"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.chaos", *SHORT, *words, "--report", str(report)],
        capture_output=True,
        text=True,
        env=environment(),
        cwd=ROOT,
        timeout=100,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    return done.returncode, json.loads(report.read_text())


@pytest.mark.slow
def test_jobs_that_nobody_takes_back_are_reported_as_lost(tmp_path: Path):
    # As many jobs as go in, so that a worker has some in hand whenever it is killed.
    code, report = chaos(
        tmp_path, "--sabotage", "forgetful-reap", "--worker-kills", "3", "--server-kills", "0"
    )

    assert code == 1
    assert report["laws"]["lost"] > 0
    assert any(line.startswith("lost") for line in report["broken"])


@pytest.mark.slow
def test_a_server_that_forgets_when_it_is_killed_loses_jobs(tmp_path: Path):
    code, report = chaos(
        tmp_path,
        *("--rate", "800", "--no-persistence"),
        *("--worker-kills", "0", "--server-kills", "1"),
    )

    assert code == 1
    assert report["laws"]["lost"] > 0
    assert report["forgotten_by_server"] > 0
