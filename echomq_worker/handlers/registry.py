"""Which function runs which job."""

from typing import Any, get_origin

from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.errors import HandlerError, UnknownHandlerError
from echomq_worker.handlers.handler import Handler
from echomq_worker.handlers.peers import PeerPayloads


class Registry:
    """The handlers of an application."""

    def __init__(self) -> None:
        self._named: dict[str, Handler] = {}
        self._raw: dict[str, Handler] = {}
        self._peers: dict[str, PeerPayloads] = {}
        self._unwrapping: dict[tuple[str, str], Handler] = {}

    def add(self, handler: Handler) -> None:
        """Register a handler.

        Raises:
            HandlerError: if its name (for a raw one, its queue) is taken.
        """
        name, where = handler.name, self._named
        if name is None:
            name, where = handler.queue, self._raw
        if (other := where.get(name)) is not None:
            msg = (
                f"{handler.label} is registered twice: by {_place(other)} and by "
                f"{_place(handler)}. Give one of them another name"
            )
            raise HandlerError(msg)
        where[name] = handler

    def read_peers(self, queue: str, payloads: PeerPayloads) -> None:
        """Say how the jobs of other runtimes in a queue are named.

        Raises:
            InvalidQueueError: if the queue's name cannot be used.
            HandlerError: if that was said before.
        """
        if check_queue_name(queue) in self._peers:
            msg = f"queue {queue} has its name_from already: say it once"
            raise HandlerError(msg)
        self._peers[queue] = payloads

    def find(self, queue: str, name: str | None, payload: bytes) -> Handler | None:
        """Return the handler of a job, or None if it has none here.

        A job without a name is named by its payload, if the queue says how; the queue's raw
        handler gets those that this leaves unnamed.

        Args:
            queue: where the job was claimed.
            name: what its producer called it; None for a job of another runtime.
            payload: as claimed.
        """
        if name is not None:
            return self._named.get(name)
        if (peers := self._peers.get(queue)) is not None:
            named = peers.name_of(payload)
            if named is not None:
                return self._adapted(queue, named, peers)
        return self._raw.get(queue)

    def named(self, name: str) -> Handler:
        """Return the handler of a name.

        Raises:
            UnknownHandlerError: if there is none.
        """
        if (handler := self._named.get(name)) is None:
            msg = f"no handler {name!r} here; known: {', '.join(self.names()) or 'none'}"
            raise UnknownHandlerError(msg)
        return handler

    def names(self) -> list[str]:
        """Return the names of all named handlers, sorted."""
        return sorted(self._named)

    def handlers(self) -> list[Handler]:
        """Return all handlers: the named ones by name, then the raw ones by queue."""
        return [
            *(self._named[name] for name in self.names()),
            *(self._raw[queue] for queue in sorted(self._raw)),
        ]

    def check_state(self, state: object | None) -> None:
        """Check that the state which the lifespan yields is what every handler asks for.

        Args:
            state: what it has yielded; None without a lifespan.

        Raises:
            HandlerError: if a `State[...]` parameter asks for something else.
        """
        for handler in self.handlers():
            for wanted in handler.state_types:
                if not _fits(state, wanted):
                    msg = (
                        f"{handler.label} asks for State[{_type_name(wanted)}], but the "
                        f"application's lifespan yields {type(state).__qualname__}"
                    )
                    raise HandlerError(msg)

    def _adapted(self, queue: str, name: str, peers: PeerPayloads) -> Handler | None:
        key = (queue, name)
        if key not in self._unwrapping:
            if (handler := self._named.get(name)) is None:
                return None
            self._unwrapping[key] = handler.unwrapping(peers.arguments_of)
        return self._unwrapping[key]


def _fits(state: object, wanted: Any) -> bool:  # noqa: ANN401
    try:
        return isinstance(state, get_origin(wanted) or wanted)
    except TypeError:  # a protocol or a special form, which cannot be asked
        return True


def _type_name(wanted: Any) -> str:  # noqa: ANN401
    return getattr(wanted, "__qualname__", str(wanted))


def _place(handler: Handler) -> str:
    function = handler.function
    return f"{function.__module__}.{function.__qualname__}"
