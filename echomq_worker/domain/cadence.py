"""How long the pump sleeps."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """Sleep until the next job is due, but never past the next beat."""

    beat_ms: int = 1_000
    """The longest sleep, in ms."""

    def wait_ms(self, *, now_ms: int, next_due_ms: int | None) -> int:
        """Return how long to sleep before the next look.

        Args:
            now_ms: the server's clock when it was asked.
            next_due_ms: when the next job is due by that clock; None if none is scheduled. It is
                past while a full batch was promoted and more are due: then the wait is 0.
        """
        if next_due_ms is None:
            return self.beat_ms
        return max(0, min(self.beat_ms, next_due_ms - now_ms))
