"""The version of our extension layout, claimed per queue and verified after each connect."""

from collections.abc import Callable

from echomq_worker.errors import WireVersionError
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.scripts import script
from echomq_worker.store.wire import Wire, run_script


class ExtensionCheck:
    """Guards one queue on one wire. `epoch` counts its connects; a new one asks again."""

    def __init__(
        self, wire: Wire, keys: Keyspace, own: str | None, epoch: Callable[[], int]
    ) -> None:
        self._wire = wire
        self._queue = keys.queue
        self._script = script("extension").bind({"meta": keys.meta})
        self._own = own
        self._epoch = epoch
        self._verified = -1

    async def verify(self, *, claim: bool = True) -> None:
        """Claim or verify the version; free while the connections are those of the last time.

        Args:
            claim: write it if the queue has none. An operator's call only looks, since the queue
                that it names may not exist.

        Raises:
            WireVersionError: if the queue has another one. It is left alone.
        """
        if self._own is None or self._verified == self._epoch():
            return
        epoch = self._epoch()
        args = {"version": self._own, "claim": int(claim)}
        reply = await run_script(self._wire, self._script, args)
        found = reply.decode("utf-8", "replace")
        if not found and not claim:
            return  # somebody may claim it until the next call
        if found != self._own:
            msg = (
                f"queue {self._queue!r} has extension layout {found!r}, this process writes "
                f"{self._own!r}. Nothing was written. Use a version of echomq-worker that knows it"
            )
            raise WireVersionError(msg, found=found, own=self._own)
        self._verified = epoch
