"""Jobs of other runtimes: what they are called, and where their arguments are."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from echomq_worker.handlers.arguments import encode_json

NameFrom = str | Callable[[bytes], str | None]
"""The field of a JSON payload that names the handler, or a function that finds the name."""

ArgumentsFrom = str | Callable[[bytes], bytes]
"""The field that holds the arguments, or a function that makes the JSON object of them."""


@dataclass(frozen=True, slots=True)
class PeerPayloads:
    """How to read the payloads of a queue that other runtimes write to.

    Args:
        name_from: where the handler's name is.
        arguments_from: where its arguments are. None with a named field: in the other fields of
            the payload. None with a function: the payload is the arguments.
    """

    name_from: NameFrom
    arguments_from: ArgumentsFrom | None = None

    def name_of(self, payload: bytes) -> str | None:
        """Return the name of the handler, or None if the payload has none."""
        try:
            if isinstance(self.name_from, str):
                return _name_in(payload, self.name_from)
            return self.name_from(payload)
        except Exception:  # noqa: BLE001 - anything may be in there: then it is the raw handler's
            return None

    def arguments_of(self, payload: bytes) -> bytes:
        """Return the JSON object of the arguments. Raises whatever is wrong with the payload."""
        match self.arguments_from, self.name_from:
            case None, str(field):
                fields = msgspec.json.decode(payload, type=dict[str, msgspec.Raw])
                fields.pop(field, None)
                return encode_json(fields)
            case None, _:
                return payload
            case str(field), _:
                return bytes(msgspec.json.decode(payload, type=dict[str, msgspec.Raw])[field])
            case function, _:
                return function(payload)


def _name_in(payload: bytes, field: str) -> str | None:
    named = msgspec.json.decode(payload, type=dict[str, msgspec.Raw]).get(field)
    return None if named is None else msgspec.json.decode(named, type=str)
