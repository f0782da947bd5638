"""The result of a job: JSON, read back as what the handler is declared to return."""

from typing import Any

import msgspec

from echomq_worker.domain.limits import RESULT_BYTES
from echomq_worker.domain.size import format_size
from echomq_worker.errors import ResultError
from echomq_worker.handlers.annotations import check_annotation
from echomq_worker.handlers.arguments import encode_json, told


class Results:
    """How a handler's results are written and read.

    Args:
        label: the handler's name, for messages.
        annotation: what it is declared to return.
    """

    def __init__(self, label: str, annotation: Any) -> None:  # noqa: ANN401
        self._label = label
        self._annotation = annotation

    def check(self) -> None:
        """Raise `HandlerError` if JSON cannot carry what the handler is declared to return."""
        check_annotation(self._annotation, f"{self._label}: the kept result")

    def encode(self, value: object) -> bytes:
        """Write a result. Raises `ResultError` if JSON cannot carry it, or it is too large."""
        try:
            text = encode_json(value)
        except Exception as error:
            msg = (
                f"{self._label} returned a {type(value).__qualname__} that JSON cannot carry "
                f"({told(error)}): return plain types, a dataclass or a msgspec.Struct, or keep "
                f"no result"
            )
            raise ResultError(msg) from error
        if len(text) > RESULT_BYTES:
            msg = (
                f"{self._label} returned a result of {format_size(len(text))}, the limit is "
                f"{format_size(RESULT_BYTES)}: store the data elsewhere and return a reference"
            )
            raise ResultError(msg)
        return text

    def decode(self, text: bytes) -> Any:  # noqa: ANN401
        """Read a result. Raises `ResultError` if it is not what the handler is to return."""
        try:
            return msgspec.json.decode(text, type=self._annotation)
        except Exception as error:
            msg = f"the result of {self._label} is not what it is declared to return: {told(error)}"
            raise ResultError(msg) from error


ANY_RESULT = Results("a job", Any)
"""For jobs whose handler is not known here."""
