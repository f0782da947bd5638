"""A clock that is wrong."""

import time


def skew_clock(seconds: float) -> None:
    """Let this process's wall clock be off by so many seconds."""
    if not seconds:
        return
    true_s, true_ns = time.time, time.time_ns
    off_ns = round(seconds * 1e9)
    time.time = lambda: true_s() + seconds
    time.time_ns = lambda: true_ns() + off_ns
