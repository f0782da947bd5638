"""A year of schedulers: real code and real scripts on virtual time; see tests/simulation/year.py.

20 workers restart at random, their clocks are off by up to 90 s, calls are lost or come twice, two
believe at once that it is they who fire, at times nobody is there for days, and old and new code
are deployed side by side. Four zones change their clocks nine times in this year.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.year_run import MUTANTS

ROOT = Path(__file__).parents[2]


def live_through(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-m", "tests.simulation.year_run", *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_in_a_whole_year_each_occurrence_is_fired_once_by_its_policy():
    done = live_through("--seed", "1")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "every law held" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_the_year_notices_when(mutant: str):
    done = live_through("--seed", "3", "--days", "16", "--mutant", mutant)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "jobs\n" in done.stdout
