"""What `run` and `dev` have in common: from the settings to the exit code of a worker."""

import asyncio
import gc
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from echomq_worker.app import EchoMQ
from echomq_worker.backend import server_options, wired_to
from echomq_worker.cli.application import load_app
from echomq_worker.cli.banner import Herald, introduce, label, ready, what_runs
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.main import BEGAN
from echomq_worker.cli.output import say, write_json
from echomq_worker.cli.session import Session
from echomq_worker.config import Settings
from echomq_worker.domain.duration import format_duration
from echomq_worker.errors import UnavailableError
from echomq_worker.observe import configure_logging
from echomq_worker.observe.heartbeat_file import HeartbeatFile, heartbeat_path
from echomq_worker.store import Server, ServerInfo
from echomq_worker.system_clock import SystemClock
from echomq_worker.wiring import Wired, check_policy, check_rights, reach_server, stop_budget
from echomq_worker.worker import Signals

NO_APP = (
    "no application is named: expected module:attribute, as in `echomq run myproject.jobs:app`, "
    "or ECHOMQ_APP"
)
NO_SERVER_HINT = (
    "set ECHOMQ_REDIS_URL to a Redis or Valkey server; or try `echomq dev {app}`, which brings a "
    "server of its own"
)


def prepare(session: Session, signals: Signals) -> EchoMQ:
    """Import the application, and let what it decides in code count.

    Signals are received from here on, so that a slow import can be stopped.

    Raises:
        CommandError: if no application is named, or it cannot be imported.
        SettingsError: if what it decides in code cannot be used.
    """
    settings = session.settings
    if settings.app is None:
        raise CommandError(NO_APP, ExitCode.CONFIG)
    signals.install()
    redactor = configure_logging(settings)
    session.share_env_files()
    app = load_app(settings.app, settings.app_dir)
    session.decide_in_code(app.given)
    redactor.learn(session.settings.secrets)
    return app


def show_only(settings: Settings, app: EchoMQ, *, as_json: bool) -> int:
    """Say what would run."""
    if as_json:
        write_json(
            {
                "handlers": [
                    {"name": handler.name, "queue": handler.queue}
                    for handler in app.registry.handlers()
                ],
                "schedules": [
                    {
                        "name": one.spec.name,
                        "queue": one.queue,
                        "job": one.spec.template.name,
                        "rule": one.spec.rule.describe(),
                    }
                    for one in app.scheduled
                ],
                "queues": [
                    {"name": queue.name, "weight": queue.weight} for queue in settings.queues
                ],
                "concurrency": settings.concurrency,
            }
        )
        return ExitCode.OK
    handlers = [label(handler) for handler in app.registry.handlers()]
    for line in what_runs(settings, handlers, app.scheduled):
        say(line)
    return ExitCode.OK


def serve(
    settings: Settings,
    app: EchoMQ,
    signals: Signals,
    *,
    burst: bool,
    has_url: bool,
) -> int:
    """Run a worker until it is asked to stop; return the exit code.

    Args:
        settings: how it is set up.
        app: whose jobs it runs.
        signals: installed already.
        burst: stop when nothing is left to do.
        has_url: whether somebody has said where the server is.

    Raises:
        CommandError: if the server is not there.
        ServerError: if it refuses us.
    """
    # What was imported stays: the collector need not go through it again while jobs run.
    gc.freeze()
    shift = _Shift(settings, app, signals, burst, has_url)
    with asyncio.Runner(loop_factory=_loop_factory(settings)) as runner:
        return runner.run(shift.work())


@dataclass(frozen=True, slots=True)
class _Shift:
    settings: Settings
    app: EchoMQ
    signals: Signals
    burst: bool
    has_url: bool

    async def work(self) -> int:
        herald = Herald(speaks_to_people(self.settings))
        options = server_options(self.settings)
        self.app.use(wired_to(self.settings, options))
        server = Server(options)
        try:
            info = await self._reach(server, herald)
            check_policy(info, allowed=self.settings.allow_eviction)
            await check_rights(server, self.settings, info)
            introduce(herald, self.settings, self.app, info)
            async with self.app:
                status = await self._wired(server, herald).run(burst=self.burst)
                if status.must_force:
                    # Code of the application goes on running: closing the loop would wait for it.
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(status.code)
                return status.code
        finally:
            await server.aclose()

    def _wired(self, server: Server, herald: Herald) -> Wired:
        def say_ready() -> None:
            if herald.people:
                say(ready(self.settings, time.monotonic() - BEGAN))

        return Wired(
            settings=self.settings,
            app=self.app,
            server=server,
            signals=self.signals,
            heartbeat=HeartbeatFile(heartbeat_path(self.settings, os.environ)),
            on_ready=say_ready,
        )

    async def _reach(self, server: Server, herald: Herald) -> ServerInfo:
        limit_ms = self.settings.redis_startup_timeout_ms
        budget = f"for {format_duration(limit_ms)}" if limit_ms else "until it does"
        where = self.settings.redis_url.redacted()
        hint = "" if self.has_url else NO_SERVER_HINT.format(app=self.settings.app)

        def away(error: UnavailableError) -> None:
            herald.warn(
                "server.not_there",
                f"{where}: {error}. Trying {budget}" + (f"\nhint: {hint}" if hint else ""),
                at=where,
                error_message=str(error),
                time_left=limit_ms / 1_000 or None,
            )

        try:
            return await reach_server(server, limit_ms, away, SystemClock())
        except UnavailableError as error:
            msg = f"{where} was not there {budget}: {error}"
            raise CommandError(msg, ExitCode.UNAVAILABLE, hint) from error


def speaks_to_people(settings: Settings) -> bool:
    """Return whether somebody reads along at a terminal."""
    return settings.log_format == "console" or (
        settings.log_format == "auto" and sys.stdout.isatty()
    )


def _loop_factory(settings: Settings) -> Callable[[], asyncio.AbstractEventLoop] | None:
    if not settings.uvloop:
        return None
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        return None
    return uvloop.new_event_loop


def new_signals(settings: Settings) -> Signals:
    """Return what will receive signals; nothing is installed yet."""
    return Signals(stop_budget(settings))
