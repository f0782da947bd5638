"""The file that a worker keeps fresh, so that `echomq health` can tell how it is."""

import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import msgspec
import structlog

from echomq_worker.config.settings import Settings
from echomq_worker.health import default_directory, file_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """How a worker is, at one beat."""

    worker: str
    state: Literal["starting", "running", "draining"]
    beat_at: float
    """Now, in Unix seconds."""
    claim_at: float | None
    """When a claim (or the beat's own call) was last answered, in Unix seconds; None for never."""
    redis_up: bool
    """False from the first call that the server did not answer until it answers again."""
    beat_ms: int
    """How often a beat is due."""
    pid: int = field(default_factory=os.getpid)


def heartbeat_path(settings: Settings, environ: Mapping[str, str]) -> Path:
    """Return where the worker with these settings writes and `echomq health` looks."""
    if settings.health_file:
        return Path(settings.health_file)
    return file_of(settings.worker_name, default_directory(environ))


class HeartbeatFile:
    """Rewrites the file as a whole, so that a reader never sees half of it.

    A file that cannot be written is logged once; the work goes on.

    Args:
        path: the file; its directory is made if need be, for this user only.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f".{path.name}.{os.getpid()}")
        self._told = False

    def write(self, beat: Heartbeat) -> bool:
        """Write a beat; return whether that worked."""
        try:
            self._replace(msgspec.json.encode(asdict(beat)))
        except OSError as error:
            self._tell(error)
            return False
        self._told = False
        return True

    def remove(self) -> None:
        """Take the file away when the worker has stopped."""
        for path in (self._draft, self._path):
            try:
                path.unlink()
            except OSError:
                continue

    def _replace(self, content: bytes) -> None:
        try:
            _check_owner(self._path.parent)
        except FileNotFoundError:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        draft = os.open(self._draft, flags, 0o600)
        try:
            os.write(draft, content)
        finally:
            os.close(draft)
        self._draft.replace(self._path)

    def _tell(self, error: OSError) -> None:
        if self._told:
            return
        self._told = True
        structlog.get_logger("echomq.health").warning(
            "health.file_unwritable",
            path=str(self._path),
            error_message=error.strerror or str(error),
            hint="`echomq health` cannot see this worker; ECHOMQ_HEALTH_FILE names another file",
        )


def _check_owner(directory: Path) -> None:
    # In a shared directory for temporary files somebody else could have made ours first.
    status = directory.stat()
    others_may_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if status.st_uid not in {os.geteuid(), 0} and others_may_write:
        raise PermissionError(1, "its directory belongs to another user and is open to others")
