"""Arguments of a job: one flat JSON object, by parameter name, checked on both ends."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from echomq_worker.errors import ArgumentsError
from echomq_worker.handlers.annotations import check_annotation
from echomq_worker.handlers.numbers import check_number_keys, check_numbers
from echomq_worker.handlers.signature import Argument, Signature

_IMMUTABLE = (type(None), bool, int, float, str, bytes)

encode_json: Callable[[object], bytes] = msgspec.json.Encoder().encode


class Arguments(Protocol):
    """How a payload becomes a handler's keyword arguments, and back."""

    def encode(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        """Make the payload. Raises `ArgumentsError`."""
        ...

    def decode(self, payload: bytes) -> dict[str, Any]:
        """Take the payload apart. Raises `ArgumentsError`."""
        ...


class NamedArguments:
    """Arguments of our own jobs, such as `{"to":"a@b.c","n":3}`.

    Any runtime, and any hand, can write such an object.

    Args:
        label: the handler's name, for messages.
        signature: its parameters.

    Raises:
        HandlerError: if JSON cannot carry one of the annotations.
    """

    def __init__(self, label: str, signature: Signature) -> None:
        for argument in signature.arguments:
            check_annotation(argument.annotation, f'{label}: argument "{argument.name}"')
        self._label = label
        self._arguments = {argument.name: argument for argument in signature.arguments}
        self._injected = frozenset(signature.context_names + signature.state_names)
        self._positional = [a.name for a in signature.arguments if not a.keyword_only]
        self._shape = msgspec.defstruct(
            "Arguments",
            [_field(argument) for argument in signature.arguments],
            kw_only=True,
            forbid_unknown_fields=True,
            gc=False,
        )
        self._decode: Callable[[bytes], msgspec.Struct] = msgspec.json.Decoder(self._shape).decode

    def encode(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        """Bind arguments to the signature, check them, and make the payload.

        Raises:
            ArgumentsError: if they do not fit; the text names the handler and the argument.
        """
        values = self._bind(args, kwargs)
        try:
            msgspec.convert(values, self._shape)
            payload = encode_json(values)
            check_numbers(self._label, values, payload)
            # What was changed on the way, a worker must be able to read.
            read = self._decode(payload)
            check_number_keys(self._label, values, payload, read)
        except ArgumentsError:
            raise
        except Exception as error:
            raise self._explain_values(values, error) from error
        return payload

    def decode(self, payload: bytes) -> dict[str, Any]:
        """Return the keyword arguments, each converted to what its annotation says.

        Raises:
            ArgumentsError: if the payload does not fit; the text names handler and argument.
        """
        try:
            return msgspec.structs.asdict(self._decode(payload))
        except Exception as error:
            raise self._explain_payload(payload, error) from error

    def _bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if not args:
            return dict(kwargs)
        if len(args) > len(self._positional):
            msg = (
                f"{self._label}: {len(args)} positional arguments given, "
                f"expected at most {len(self._positional)}"
            )
            raise ArgumentsError(msg)
        values = dict(zip(self._positional, args, strict=False))
        for name, value in kwargs.items():
            if name in values:
                msg = f'{self._label}: argument "{name}" given twice, by position and by name'
                raise ArgumentsError(msg)
            values[name] = value
        return values

    def _explain_values(self, values: Mapping[str, Any], cause: Exception) -> ArgumentsError:
        problem = self._problem_of_names(values)
        for name, value in () if problem else values.items():
            annotation = self._arguments[name].annotation
            try:
                msgspec.convert(value, annotation)
                msgspec.json.decode(encode_json(value), type=annotation)
            except Exception as error:  # noqa: BLE001 - told in our words
                problem = f'argument "{name}": {told(error)}'
                break
        return ArgumentsError(f"{self._label}: {problem or told(cause)}")

    def _explain_payload(self, payload: bytes, cause: Exception) -> ArgumentsError:
        try:
            values = msgspec.json.decode(payload, type=dict[str, msgspec.Raw])
        except Exception as error:  # noqa: BLE001 - told in our words
            msg = (
                f"{self._label}: the payload is no JSON object of arguments ({told(error)}). "
                f"A job that another runtime wrote in its own form needs a raw handler"
            )
            return ArgumentsError(msg)
        problem = self._problem_of_names(values)
        for name, value in () if problem else values.items():
            try:
                msgspec.json.decode(value, type=self._arguments[name].annotation)
            except Exception as error:  # noqa: BLE001 - told in our words
                problem = f'argument "{name}": {told(error)}'
                break
        return ArgumentsError(f"{self._label}: {problem or told(cause)}")

    def _problem_of_names(self, values: Mapping[str, Any]) -> str | None:
        for name, argument in self._arguments.items():
            if argument.required and name not in values:
                return f'missing argument "{name}"'
        for name in values:
            if name in self._injected:
                return f'argument "{name}" is filled in by the worker: leave it out'
            if name not in self._arguments:
                known = ", ".join(self._arguments) or "none"
                return f'unknown argument "{name}"; it takes: {known}'
        return None


class RawArguments:
    """The payload of another runtime: bytes, given as they are to one parameter.

    Args:
        label: the handler's name, for messages.
        name: the parameter.
    """

    def __init__(self, label: str, name: str) -> None:
        self._label = label
        self._name = name

    def encode(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        """Return the payload that was given. Raises `ArgumentsError` if it is not one `bytes`."""
        values = [*args, *kwargs.values()]
        if len(values) != 1 or not isinstance(values[0], bytes):
            msg = f"{self._label}: a raw job takes one argument, its payload, as bytes"
            raise ArgumentsError(msg)
        return values[0]

    def decode(self, payload: bytes) -> dict[str, Any]:
        """Return the payload under the parameter's name."""
        return {self._name: payload}


def _field(argument: Argument) -> tuple[str, Any] | tuple[str, Any, Any]:
    if argument.required:
        return (argument.name, argument.annotation)
    default = argument.default
    if isinstance(default, _IMMUTABLE):
        return (argument.name, argument.annotation, default)
    # The object itself, as a call of the function would use it: no copy, no check.
    return (argument.name, argument.annotation, msgspec.field(default_factory=lambda: default))


def told(error: Exception) -> str:
    """Return what an error says, to stand in the middle of a sentence."""
    text = str(error) or type(error).__name__
    return text if text[1:2].isupper() else text[0].lower() + text[1:]
