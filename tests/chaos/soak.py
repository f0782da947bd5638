"""What a run takes up over time: memory, connections, keys; and whether it grows."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from tests.chaos.pen import Pen, now_ms
from tests.chaos.scene import Scene

EVERY_S = 5.0
LEAST_SAMPLES = 80
"""Fewer say nothing about growth."""
ROOT_KEY = "emq:{default}:"
SLACK = {"rss_kib": 8_192, "connections": 12, "other_keys": 500}
MOST_GROWTH = 1.15


@dataclass(frozen=True, slots=True)
class Growth:
    """One measure: how high it was early and late."""

    name: str
    early: float
    """The median of the second quarter."""
    late: float
    """The median of the last."""
    highest: float
    judged: bool

    @property
    def is_flat(self) -> bool:
        """Whether it has not grown by more than a little."""
        return self.late <= self.early * MOST_GROWTH + SLACK[self.name]


def sample(scene: Scene, pen: Pen) -> None:
    """Write down how things are; nothing if the server does not answer."""
    try:
        with scene.admin() as admin:
            looked = _look(admin)
    except redis.RedisError:
        return
    looked["rss_kib"] = {post.number: _rss_kib(post.pid) for post in scene.workers if post.is_up}
    looked["log_bytes"] = scene.log.stat().st_size if scene.log.exists() else 0
    pen.write(json.dumps({"ms": now_ms(), **looked}))


def growth(path: Path) -> list[Growth]:
    """Compare early with late, measure by measure."""
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    measures = {
        # Of the first worker, which is never restarted by us.
        "rss_kib": [s["rss_kib"]["0"] for s in samples if s["rss_kib"].get("0")],
        "connections": [s["connections"] for s in samples],
        "other_keys": [s["keys"] - s["jobs"] for s in samples],
    }
    return [made for name, values in measures.items() if (made := _growth(name, values))]


def _growth(name: str, values: Sequence[float]) -> Growth | None:
    quarter = len(values) // 4
    if not quarter:
        return None
    return Growth(
        name,
        statistics.median(values[quarter : 2 * quarter]),
        statistics.median(values[-quarter:]),
        max(values),
        judged=len(values) >= LEAST_SAMPLES,
    )


def _look(admin: "redis.Redis") -> dict[str, Any]:
    pipe: Any = admin.pipeline(transaction=True)
    pipe.dbsize()
    for place in ("pending", "active", "schedule", "dead", "completed"):
        pipe.zcard(ROOT_KEY + place)
    pipe.xlen(ROOT_KEY + "log")
    pipe.info("clients")
    pipe.info("memory")
    keys, pending, active, scheduled, dead, results, log, clients, memory = pipe.execute()
    return {
        "keys": keys,
        "pending": pending,
        "active": active,
        "scheduled": scheduled,
        "dead": dead,
        "jobs": pending + active + scheduled + dead,
        "results": results,
        "log": log,
        "connections": clients["connected_clients"],
        "server_bytes": memory["used_memory"],
    }


def _rss_kib(pid: int) -> int | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), None)
