"""The embedded server, from start to stop."""

import atexit
import os
import shutil
import time
from pathlib import Path
from typing import Self
from urllib.parse import quote

from echomq_worker.embedded.binary import find_server_binary
from echomq_worker.embedded.directory import SOCKET, lock_data_directory, make_run_directory
from echomq_worker.embedded.process import ServerProcess
from echomq_worker.embedded.readiness import answers_ping
from echomq_worker.errors import EmbeddedServerError

LOG = "server.log"
LAST_WORDS = 2_000
POLL_S = 0.005


class EmbeddedServer:
    """A Valkey or Redis server that lives no longer than this process.

    It listens on a private unix socket only. Without a `directory` its data is gone when it stops;
    with one, every write is logged there (synced to disk once a second) and found again at the
    next start. On Linux it ends even if this process is killed.

    Use it as a context manager, or call `start` and `stop`. Both block (about 50 ms), so in
    asynchronous code run them in a thread.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        binary: Path | None = None,
        start_timeout_s: float = 60.0,
    ) -> None:
        """Prepare a server; nothing is started yet.

        `directory` keeps the data between runs and is made if it is missing. `binary` is the
        program to run, found by `find_server_binary` if not given. `start_timeout_s` (seconds)
        bounds the time from start to the first answer, which includes loading the data.
        """
        self._directory = directory.absolute() if directory is not None else None
        self._binary = binary
        self._start_timeout_s = start_timeout_s
        self._run_directory: Path | None = None
        self._process: ServerProcess | None = None
        self._owner = 0

    @property
    def url(self) -> str:
        """Where clients connect: `unix:///...?db=0`. Raises `EmbeddedServerError` if stopped."""
        return f"unix://{quote(str(self._socket))}?db=0"

    @property
    def pid(self) -> int | None:
        """The server's process id; None while it does not run."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start the server and return once it takes commands.

        Raises `EmbeddedServerError` if there is no server program, if it does not start (its last
        words are in the message), or if another server uses the directory.
        """
        if self._run_directory is not None:
            msg = "this embedded server has been started already: stop it first"
            raise EmbeddedServerError(msg)
        program = self._binary or find_server_binary()
        self._run_directory = make_run_directory()
        self._owner = os.getpid()
        atexit.register(self.stop)
        try:
            self._launch(program)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the server and remove its private folder. Does nothing if it is stopped."""
        if self._run_directory is None or self._owner != os.getpid():
            return
        atexit.unregister(self.stop)
        if self._process is not None:
            self._process.end()
        shutil.rmtree(self._run_directory, ignore_errors=True)
        self._process = self._run_directory = None

    def restart(self, *, hard: bool = False) -> None:
        """Stop the server and start it again at the same URL: what clients must survive.

        `hard` kills it (SIGKILL) instead of asking it to end. Raises as `start` does.
        """
        if self._process is not None:
            self._process.end(hard=hard)
        self._socket.unlink(missing_ok=True)
        self._launch(self._binary or find_server_binary())

    def __enter__(self) -> Self:
        """Start the server."""
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stop the server."""
        self.stop()

    @property
    def _socket(self) -> Path:
        if self._run_directory is None:
            msg = "the embedded server is not running: start it first"
            raise EmbeddedServerError(msg)
        return self._run_directory / SOCKET

    def _launch(self, program: Path) -> None:
        log = self._socket.with_name(LOG)
        locks = [] if self._directory is None else [lock_data_directory(self._directory)]
        try:
            self._process = ServerProcess(
                [str(program), *self._options()], log=log, keep_open=locks
            )
        except OSError as error:
            msg = f"cannot run the server {program}: {error.strerror}"
            raise EmbeddedServerError(msg) from error
        finally:
            for lock in locks:
                os.close(lock)
        self._wait_until_ready(self._process, program, log)

    def _options(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "daemonize": "no",
            "save": "",
            "maxmemory-policy": "noeviction",
            # The older spelling of hash-max-listpack-value, which every version knows.
            "hash-max-ziplist-value": "1024",
            "dir": str(self._directory or self._run_directory),
            "appendonly": "no" if self._directory is None else "yes",
        }
        return [word for name, value in options.items() for word in (f"--{name}", value)]

    def _wait_until_ready(self, process: ServerProcess, program: Path, log: Path) -> None:
        give_up = time.monotonic() + self._start_timeout_s
        while not answers_ping(self._socket):
            if process.pid is None:
                end = f"ended with exit code {process.exit_code}"
            elif time.monotonic() > give_up:
                end = f"took no commands within {self._start_timeout_s:g} s"
            else:
                time.sleep(POLL_S)
                continue
            last_words = log.read_bytes()[-LAST_WORDS:].decode(errors="replace").strip()
            msg = f"the server {program} {end}. It said: {last_words or '(nothing)'}"
            raise EmbeddedServerError(msg)
