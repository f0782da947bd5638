"""Who else works on a queue, by what workers say with their beats."""

from collections.abc import Mapping

from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.scripts import script
from echomq_worker.store.wire import Wire, ask_again, run_script


class Fleet:
    """The workers of one server, as they present themselves."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def zone_data(self, queue: str) -> Mapping[str, str]:
        """Return the version of the time zone data of each living worker of a queue, by its id.

        Workers of versions that do not say it are left out.

        Raises:
            ServerError: or one of its kinds.
        """
        found, keys = script("read_workers"), Keyspace(queue)
        bound = found.bind({key: getattr(keys, key) for key in found.keys})
        told = await ask_again(lambda: run_script(self._wire, bound, {}))
        words = [word.decode("utf-8", "replace") for word in told]
        return dict(zip(words[::2], words[1::2], strict=True))
