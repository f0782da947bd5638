"""The application that the measured worker runs."""

import itertools
import time

from echomq_worker import INJECTED, EchoMQ, JobContext

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


@app.job("bench.note_instant")
async def note_instant(*, context: JobContext = INJECTED) -> None:
    """Note how long ago the instant was for which a scheduler has made this job."""
    _noted.append(time.time_ns() / 1e6 - (context.instant_ms or 0))


@app.job("bench.burst", keep_result="1m")
async def burst() -> dict[str, float]:
    """Return of what was noted how much it is, the first, the last and the longest gap in ms."""
    noted = sorted(_noted)
    _noted.clear()
    gaps = [later - earlier for earlier, later in itertools.pairwise(noted)]
    first, last = noted[:1] or [0.0], noted[-1:] or [0.0]
    return {"noted": len(noted), "first": first[0], "last": last[0], "gap": max(gaps, default=0.0)}


@app.job("bench.report", keep_result="1m")
async def report() -> list[float]:
    """Return what was noted, in ms, and start afresh."""
    noted = _noted.copy()
    _noted.clear()
    return noted


@app.job("bench.nothing")
async def nothing() -> None:
    """Do nothing."""
