"""What tells the time. Tests pass one that they move themselves."""

from typing import Protocol


class Clock(Protocol):
    """The time of this machine; due times and leases go by the server's."""

    def now_ms(self) -> int:
        """Return the wall clock, in Unix milliseconds. It may be set back."""
        ...

    def monotonic_ms(self) -> int:
        """Return milliseconds since some instant. They never go back."""
        ...

    async def sleep_ms(self, ms: int) -> None:
        """Wait for `ms` milliseconds; 0 lets the others have a turn."""
        ...
