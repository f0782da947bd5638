"""Measures every scenario on a server of its own, and compares."""

import asyncio
import logging
from pathlib import Path

import structlog

from checks.check import Found
from checks.traffic.baseline import Cost, read_baseline, regressions, told, write_baseline

BASELINE = "checks/traffic/baseline.json"


def traffic(root: Path) -> Found:
    """Return the scenarios that cost more than 10 % more commands than the baseline says."""
    costs, notes = _measured()
    return Found(regressions(read_baseline(root / BASELINE), costs), notes)


def write_traffic(root: Path) -> list[str]:
    """Make what the scenarios cost now the baseline."""
    costs, _ = _measured()
    write_baseline(root / BASELINE, costs)
    return []


def _measured() -> tuple[dict[str, Cost], list[str]]:
    # Not above: a package that cannot be imported must not keep the other checks from running.
    from checks.traffic.bench import run_scenario  # noqa: PLC0415
    from checks.traffic.daemon import WORKER_SCENARIOS  # noqa: PLC0415
    from checks.traffic.scenarios import SCENARIOS  # noqa: PLC0415
    from checks.traffic.watch import load_scripts, script_time_us  # noqa: PLC0415
    from echomq_worker.embedded import EmbeddedServer  # noqa: PLC0415

    # A job's log lines would bury the findings; a failure is still told.
    quiet = structlog.make_filtering_bound_logger(logging.ERROR)
    structlog.configure(wrapper_class=quiet)
    costs: dict[str, Cost] = {}
    notes: list[str] = []
    for scenario in (*SCENARIOS, *WORKER_SCENARIOS):
        name = scenario.__name__
        with EmbeddedServer() as server:
            load_scripts(server.url)
            costs[name] = asyncio.run(run_scenario(server.url, scenario))
            time_us = script_time_us(server.url)
        notes.append(f"{told(name, costs[name])}   {time_us:.0f} µs a script call")
    return costs, notes
