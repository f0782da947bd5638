"""Everything that runs during a chaos run, and what each process is told."""

import itertools
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import redis

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.embedded.process import dying_with_us
from tests.chaos.fleet import Journal, Post, environment
from tests.chaos.options import Options
from tests.support.processes import ROOT

LOG_EVENTS = 300_000
WORKER = {
    "ECHOMQ_APP_DIR": str(ROOT),
    "ECHOMQ_BEAT": "500ms",
    "ECHOMQ_CRASH_LIMIT": "1000",
    "ECHOMQ_MAX_ATTEMPTS": "1000",
    "ECHOMQ_SHUTDOWN_TIMEOUT": "5s",
    "ECHOMQ_LOG_LEVEL": "error",
    "ECHOMQ_LOG_FORMAT": "json",
    "ECHOMQ_LOG_EVENTS": str(LOG_EVENTS),
}
STOP_S = 10.0


@dataclass
class Scene:
    """The server, the proxies and the processes."""

    options: Options
    folder: Path
    journal: Journal
    server: EmbeddedServer
    workers: list[Post] = field(default_factory=list[Post])
    producers: list[Post] = field(default_factory=list[Post])
    recorder: Post | None = None
    proxies: list[str] = field(default_factory=list[str])
    """Their URLs."""
    relay: "subprocess.Popen[str] | None" = None
    _past_exits: list[int] = field(default_factory=list[int])
    _starts: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def posts(self) -> list[Post]:
        """All of them."""
        return [*self.workers, *self.producers, *([self.recorder] if self.recorder else [])]

    def admin(self) -> "redis.Redis":
        """Return a client for whoever may do anything."""
        return redis.Redis.from_url(self.server.url, socket_timeout=5, protocol=2)

    def set_up_server(self) -> None:
        """Say what a fresh server process is not told by its start."""
        with self.admin() as admin:
            admin.config_set("appendfsync", self.options.fsync)

    def start(self) -> None:
        """Start everything but the producers."""
        self.server.start()
        self.set_up_server()
        self._start_relay()
        self.recorder = self._post(
            "recorder", 0, ["-m", "tests.chaos.tail", self.server.url, str(self.log)]
        )
        self.recorder.start()
        for number in range(self.options.workers):
            self.workers.append(self._post("worker", number, ["-m", "echomq_worker", "run"]))
            self.workers[-1].start()

    def produce(self, rate: float, jobs: int) -> None:
        """Start producers that enqueue so many jobs a second (0: as many as go in)."""
        count = self.options.producers
        for number in range(count):
            post = self._post("producer", number, ["-m", "tests.chaos.produce"])
            post.next_settings = {}
            tell = post.settings
            own = {"CHAOS_RATE": str(rate / count), "CHAOS_JOBS": str(-(-jobs // count))}
            post.settings = lambda start, tell=tell, own=own: {**tell(start), **own}
            self.producers.append(post)
            post.start()

    def harness_exits(self) -> list[int]:
        """Return the exit codes of producers and the recorder that nobody wished for."""
        recorder = self.recorder.exits if self.recorder else []
        return [*self._past_exits, *recorder]

    def stop_producers(self) -> None:
        """Let them finish their batch and end."""
        for post in self.producers:
            code = post.stop(STOP_S * 2)
            self._past_exits += [*post.exits, *([code] if code else [])]
        self.producers.clear()

    def keep_up(self) -> None:
        """Replace whoever has ended."""
        for post in self.posts:
            post.keep_up()

    def order(self, proxy: int, *words: object) -> None:
        """Tell a proxy what to do."""
        assert self.relay is not None
        assert self.relay.stdin is not None
        self.relay.stdin.write(" ".join(map(str, (proxy, *words))) + "\n")
        self.relay.stdin.flush()

    @property
    def log(self) -> Path:
        """Where the recorder writes."""
        return self.folder / "log.notes"

    def close(self) -> None:
        """End everything that still runs."""
        for post in self.posts:
            post.stop(0)
        if self.relay is not None:
            self.relay.kill()
            self.relay.wait()
        self.server.stop()

    def _start_relay(self) -> None:
        count = (self.options.workers + 1) // 2 + 1
        self.relay = subprocess.Popen(  # noqa: S603 - our own program
            dying_with_us([sys.executable, "-m", "tests.chaos.relay", self.server.url, str(count)]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
            cwd=ROOT,
            start_new_session=True,
        )
        assert self.relay.stdout is not None
        self.proxies = self.relay.stdout.readline().split()

    def _post(self, role: str, number: int, command: list[str]) -> Post:
        def settings(start: int) -> dict[str, str]:
            if role == "worker":
                return self._worker_settings(number, start)
            return self._producer_settings(number, start) if role == "producer" else {}

        return Post(role, number, command, settings, self.journal, self.folder, self._starts)

    def _worker_settings(self, number: int, start: int) -> dict[str, str]:
        return WORKER | {
            "ECHOMQ_APP": "tests.chaos.app:app",
            # Every second worker, from the second on, has a proxy before it.
            "ECHOMQ_REDIS_URL": self.proxies[number // 2] if number % 2 else self.server.url,
            "ECHOMQ_WORKER_NAME": f"chaos-{start}",
            "ECHOMQ_CONCURRENCY": str(self.options.concurrency),
            "ECHOMQ_LEASE": f"{self.options.lease_ms}ms",
            "ECHOMQ_HEALTH_FILE": str(self.folder / f"health-{number}"),
            "CHAOS_NOTES": str(self.folder / f"worker-{start}.notes"),
            "CHAOS_SABOTAGE": self.options.sabotage,
        }

    def _producer_settings(self, number: int, start: int) -> dict[str, str]:
        return {
            "ECHOMQ_REDIS_URL": self.proxies[-1] if number % 2 else self.server.url,
            "ECHOMQ_NODE_ID": str(1000 + number),
            "ECHOMQ_LOG_EVENTS": str(LOG_EVENTS),
            "CHAOS_PRODUCER_NOTES": str(self.folder / f"producer-{start}.notes"),
            "CHAOS_SEED": f"{self.options.seed}:{start}",
            "CHAOS_BATCH": str(self.options.batch),
            "CHAOS_BACKLOG": str(self.options.backlog),
        }
