"""The clock of the machine."""

import time

import anyio


class SystemClock:
    """Tells the machine's time and sleeps by its timers."""

    def now_ms(self) -> int:
        """Return the wall clock, in Unix milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        """Return milliseconds since the machine was started. They never go back."""
        return time.monotonic_ns() // 1_000_000

    async def sleep_ms(self, ms: int) -> None:
        """Wait for `ms` milliseconds; 0 lets the others have a turn."""
        await anyio.sleep(ms / 1_000)
