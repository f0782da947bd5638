"""The application that the measured worker runs."""

import time

from echomq_worker import EchoMQ

app = EchoMQ()
_noted: list[float] = []


@app.job("bench.note")
async def note(since_ns: int) -> None:
    """Note how long ago an instant was, by the clock that all processes of a machine share."""
    _noted.append((time.monotonic_ns() - since_ns) / 1e6)


@app.job("bench.note_due")
async def note_due(due_ms: int) -> None:
    """Note how long ago an instant was, by the wall clock."""
    _noted.append(time.time_ns() / 1e6 - due_ms)


@app.job("bench.report", keep_result="1m")
async def report() -> list[float]:
    """Return what was noted, in ms, and start afresh."""
    noted = _noted.copy()
    _noted.clear()
    return noted


@app.job("bench.nothing")
async def nothing() -> None:
    """Do nothing."""
