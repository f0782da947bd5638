"""Real workers on virtual time, in worlds that a seed decides; see tests/simulation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.mutants import MUTANTS

ROOT = Path(__file__).parents[2]
KEPT = "tests/simulation/kept_seeds.txt"


def simulate(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-m", "tests.simulation", *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("seeds", [KEPT, "10000:10060"])
def test_every_law_holds_in_every_world(seeds: str):
    done = simulate("--seeds", seeds)

    assert done.returncode == 0, done.stdout + done.stderr


def test_one_seed_is_one_run():
    first, second = (simulate("--seeds", "3:8", "--digests").stdout for _ in range(2))

    assert first.splitlines()[:5] == second.splitlines()[:5]
    assert len(set(first.splitlines()[:5])) == 5


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_the_simulation_notices_when(mutant: str):
    done = simulate("--seeds", "0:400", "--first", "--jobs", "2", "--mutant", mutant)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "laws:" in done.stdout
