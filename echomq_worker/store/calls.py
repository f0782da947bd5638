"""Who calls, and the number of each call, so that a call can be asked again."""

import secrets
import string
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

_ALPHABET = string.ascii_letters + string.digits


def random_name(length: int = 11) -> str:
    """Return a random text of base62 characters that nobody can guess."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


@dataclass(slots=True)
class Caller:
    """Numbers the calls of one caller; only one of them is in flight at a time.

    A caller without a name leaves no receipts and its claims carry no claim id (as a caller of the
    base wire).
    """

    name: str = field(default_factory=random_name)
    _number: int = 0
    _busy: bool = False

    def next_number(self) -> int:
        """Return the number of the next call."""
        self._number += 1
        return self._number

    def id_of(self, number: int) -> str:
        """Return the claim id of what call `number` claims."""
        return f"{self.name}.{number:x}" if self.name else ""

    @contextmanager
    def one_call(self, number: int) -> Generator[None]:
        """Hold the line for one call. Raises `RuntimeError` if another is in flight."""
        if self._busy:
            msg = f"call {number} of {self.name} overlaps another; a line has one call in flight"
            raise RuntimeError(msg)
        self._busy = True
        try:
            yield
        finally:
            self._busy = False
