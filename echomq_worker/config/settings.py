"""Every setting, in one frozen object."""

import os
import re
import socket
from dataclasses import dataclass, fields

from echomq_worker.config.declare import DECLARATION, Declaration
from echomq_worker.config.log_settings import LogSettings
from echomq_worker.config.rules import broken_rules
from echomq_worker.config.server_settings import ServerSettings
from echomq_worker.config.worker_settings import WorkerSettings
from echomq_worker.errors import SettingsError

_LONGEST_GRACE_MS = 5_000
_SHARE_OF_CANCEL_GRACE = 5


@dataclass(frozen=True, kw_only=True)
class Settings(LogSettings, WorkerSettings, ServerSettings):
    """Valid by construction: an instance that exists can be used.

    `Settings()` has every default; values that follow from others are worked out.

    Raises:
        SettingsError: with every rule between settings that is broken.
    """

    def __post_init__(self) -> None:
        self._derive()
        if broken := broken_rules(self):
            raise SettingsError(broken)

    @property
    def secrets(self) -> list[str]:
        """The texts that must never be shown."""
        return [text for text in (self.redis_password, self.redis_url.password) if text]

    def _derive(self) -> None:
        connections = max(self.concurrency, 2 * len(self.queues)) + 4
        grace_ms = min(_LONGEST_GRACE_MS, self.shutdown_timeout_ms // _SHARE_OF_CANCEL_GRACE)
        values: dict[str, object] = {
            "threads": self.threads or self.concurrency,
            "redis_max_connections": self.redis_max_connections or connections,
            "lease_renew_interval_ms": self.lease_renew_interval_ms or self.lease_ms // 3,
            "stuck_after_ms": self.stuck_after_ms or max(300_000, 6 * self.lease_ms),
            "shutdown_cancel_grace_ms": (
                grace_ms if self.shutdown_cancel_grace_ms < 0 else self.shutdown_cancel_grace_ms
            ),
            "worker_name": self.worker_name or _own_name(),
            "redis_url": self.redis_url.with_credentials(self.redis_username, self.redis_password),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)


def declarations() -> dict[str, Declaration]:
    """Return the declaration of every setting by the attribute that holds its value."""
    return {field.name: field.metadata[DECLARATION] for field in fields(Settings)}


def twins_of(variable: str) -> list[str]:
    """Return the other variables that would give the same secret: itself, or by a file."""
    secrets = [each.variable for each in declarations().values() if each.secret]
    if variable in secrets:
        return [f"{variable}_FILE"]
    return [name for name in secrets if variable == f"{name}_FILE"]


def _own_name() -> str:
    host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())[:100] or "localhost"
    return f"{host}:{os.getpid()}"
