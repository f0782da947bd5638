"""What a server tells about itself, as it was told: the checks decide what to think of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

CONFIG_NAMES = (
    "appendfsync",
    "appendonly",
    "hash-max-listpack-value",
    "hash-max-ziplist-value",
    "maxmemory-policy",
    "save",
    "timeout",
)
"""The settings of a server that matter here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What `INFO`, `CONFIG GET` and `TIME` have said."""

    info: Mapping[str, str]
    """`INFO`, by name."""
    config: Mapping[str, str] | None = field(default=None)
    """Those of `CONFIG_NAMES` that the server knows; None if it does not tell us."""
    clock_offset_ms: int = 0
    """Server clock minus ours."""
    round_trip_ms: float = 0.0
    """How long the server took to say what time it is."""

    @property
    def name(self) -> str:
        """`valkey` or `redis`."""
        return "valkey" if "valkey_version" in self.info else "redis"

    @property
    def version(self) -> str:
        """Its version, such as `7.0.15`; `unknown` if it does not say."""
        return self.info.get("valkey_version") or self.info.get("redis_version", "unknown")

    @property
    def memory_policy(self) -> str | None:
        """`maxmemory-policy`; None when the server does not tell."""
        told = None if self.config is None else self.config.get("maxmemory-policy")
        return told or self.info.get("maxmemory_policy")

    def number(self, name: str) -> int:
        """Return a whole number of `INFO`; 0 if it is not there."""
        text = self.info.get(name, "")
        return int(text) if text.isdigit() else 0
