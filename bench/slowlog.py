"""How long scripts take on the server, by its own log of slow commands."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from redis.asyncio import Redis

from echomq_worker.protocol.scripts import script, script_names

KEPT = 60_000


@dataclass(slots=True)
class SlowLog:
    """Has the server log every script call that takes longer than a bound.

    Args:
        client: a connection of its own.
    """

    client: Redis
    _names: Mapping[str, str] = field(
        default_factory=lambda: {script(name).sha: name for name in script_names()}
    )

    async def start(self, *, longer_than_us: int) -> None:
        """Begin anew.

        Args:
            longer_than_us: shorter calls are left out. Commands inside scripts are logged as well,
                so that a bound above theirs keeps the log from costing what it measures.
        """
        await self.client.config_set("slowlog-max-len", KEPT)
        await self.client.config_set("slowlog-log-slower-than", longer_than_us)
        await self.client.slowlog_reset()

    async def stop(self) -> dict[str, list[float]]:
        """Return the durations (in ms) of the calls of each script since `start`."""
        await self.client.config_set("slowlog-log-slower-than", -1)
        found: defaultdict[str, list[float]] = defaultdict(list)
        for entry in await self.client.slowlog_get(KEPT):
            words = entry["command"].split()
            name = self._names.get(words[1].decode()) if len(words) > 1 else None
            if name is not None:
                found[name].append(entry["duration"] / 1_000)
        return dict(found)
