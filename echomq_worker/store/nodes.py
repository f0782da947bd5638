"""Node numbers for minting ids: leased by workers, so that no two of them mint the same id."""

import secrets

from echomq_worker.domain.ids import NODE_LIMIT
from echomq_worker.protocol.keyspace import NODES_KEY
from echomq_worker.protocol.scripts import script
from echomq_worker.store.wire import Wire, ask_again, run_script

NODE_LEASE_MS = 60_000


class NodeLease:
    """The lease on one node number in `{emq}:nodes`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._script = script("lease_node").bind({"nodes": NODES_KEY})
        self._free = script("free_node").bind({"nodes": NODES_KEY})
        self._end_ms = 0
        self.node: int | None = None
        """The number that is ours; None while there is none."""

    async def take(self) -> int | None:
        """Lease a free number, or renew ours for another minute.

        Call it three times a minute. A number that was lost (after a long pause) is replaced.

        Returns:
            The number, or None if all 1,024 are taken (draw one at random then).
        """
        if self.node is not None and await self._ask(self.node):
            return self.node
        await self._ask(None)
        return self.node

    async def give_back(self) -> None:
        """Free the number for others."""
        if self.node is not None:
            node, self.node = self.node, None
            await run_script(self._wire, self._free, {"node": node, "lease_end": self._end_ms})

    async def _ask(self, renew: int | None) -> bool:
        args = {
            "node": "" if renew is None else renew,
            "lease_end": "" if renew is None else self._end_ms,
            "lease_ms": NODE_LEASE_MS,
            "first": secrets.randbelow(NODE_LIMIT),
        }
        node, self._end_ms = await ask_again(lambda: run_script(self._wire, self._script, args))
        self.node = None if node < 0 else node
        return self.node is not None
