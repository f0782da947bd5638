"""The folders of a server: a private one for its socket, and one for its data if it is to last."""

import fcntl
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from echomq_worker.embedded.readiness import answers_ping, tell_to_shut_down
from echomq_worker.errors import EmbeddedServerError

PREFIX = "echomq-"
SOCKET = "s"
OWNER = "owner"
LOCK = "echomq.lock"
LONGEST_SOCKET_PATH = 103 if sys.platform == "darwin" else 107
"""Bytes of a path that fit a socket address, its closing NUL not counted."""
YOUNG_S = 60
LOCK_WAIT_S = 5.0
LOCK_RETRY_S = 0.05


def make_run_directory() -> Path:
    """Make a folder that only this user may enter, whose path leaves room for a socket's name.

    Folders left behind by owners that were killed are cleaned away on the way.
    Raises `EmbeddedServerError` if no such folder can be made.
    """
    for root in dict.fromkeys((Path(tempfile.gettempdir()), Path("/tmp"))):  # noqa: S108
        if len(os.fsencode(root / f"{PREFIX}12345678" / SOCKET)) > LONGEST_SOCKET_PATH:
            continue
        sweep(root)
        directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
        (directory / OWNER).write_text(str(os.getpid()))
        return directory
    msg = (
        f"no folder for the server's socket: {tempfile.gettempdir()} is too long a path "
        f"(at most {LONGEST_SOCKET_PATH} bytes with the socket). Set TMPDIR to a shorter one"
    )
    raise EmbeddedServerError(msg)


def sweep(root: Path) -> None:
    """Clean up under `root` after owners that died without stopping their servers.

    A server whose owner is gone ends by itself on Linux; elsewhere it is told to here.
    """
    for directory in _abandoned(root):
        if not answers_ping(directory / SOCKET):
            if time.time() - directory.stat().st_mtime > YOUNG_S:
                shutil.rmtree(directory, ignore_errors=True)
        elif sys.platform != "linux":
            tell_to_shut_down(directory / SOCKET)


def _abandoned(root: Path) -> Iterator[Path]:
    for owner in root.glob(f"{PREFIX}*/{OWNER}"):
        try:
            os.kill(int(owner.read_text()), 0)
        except ProcessLookupError:
            yield owner.parent
        except (OSError, ValueError):
            continue


def lock_data_directory(directory: Path) -> int:
    """Take `directory` for one server, and return the open lock file.

    The server inherits the file and thereby holds the lock until it has ended, even if its owner
    was killed before. Raises `EmbeddedServerError` if another server keeps the lock.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    give_up = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up:
                owner = os.pread(lock, 20, 0).decode() or "?"
                os.close(lock)
                msg = (
                    f"{directory} is in use by the embedded server of process {owner}. "
                    "Stop that one, or choose another directory"
                )
                raise EmbeddedServerError(msg) from None
            time.sleep(LOCK_RETRY_S)
        else:
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
            return lock
