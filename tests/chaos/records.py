"""Reads the notes of a run into a history. Everything is read line by line."""

from collections.abc import Iterator
from pathlib import Path

from tests.chaos.history import OK, REFUSED, UNKNOWN, History
from tests.chaos.recovery import InFlight, Recoveries

ANSWERS = {"K": OK, "F": REFUSED, "U": UNKNOWN}
EVENTS = {
    "q": "enqueued",
    "s": "scheduled",
    "p": "promoted",
    "c": "claimed",
    "x": "completed",
    "r": "returned",
    "v": "recovered",
    "d": "dead",
}
LETTERS = {event: letter for letter, event in EVENTS.items()}


def read_producers(folder: Path, history: History) -> None:
    """Read what producers asked for, and what they were told."""
    for path in sorted(folder.glob("producer-*.notes")):
        batches: dict[str, list[str]] = {}
        for line in whole_lines(path):
            word, batch, *rest = line.split()
            if word == "I":
                _, kind, delay, *ids = rest
                batches[batch] = ids
                for job_id in ids:
                    history.invoked(job_id, kind, int(delay))
            else:
                for job_id in batches.pop(batch):
                    history.answered(job_id, ANSWERS[word])


def read_workers(folder: Path, history: History) -> dict[int, InFlight]:
    """Read what handlers did; return what each worker had in hand at its end."""
    left: dict[int, InFlight] = {}
    for path in folder.glob("worker-*.notes"):
        running: InFlight = {}
        for line in whole_lines(path):
            word, job_id, attempt, at_ms = line.split()
            if word == "O":
                history.made(job_id, attempt, int(at_ms))
            elif word == "S":
                history.started(job_id)
                running[job_id] = int(at_ms)
            else:
                running.pop(job_id, None)
                if word == "E":
                    history.ended(job_id, int(attempt), int(at_ms))
        left[int(path.stem.partition("-")[2])] = running
    return left


def read_log(folder: Path, history: History, recoveries: Recoveries) -> int:
    """Read the server's log; return how many of its entries the server forgot later."""
    path = folder / "log.notes"
    forgotten = list(_forgotten(path))
    skipped = 0
    for line in whole_lines(path):
        if line.startswith("R"):
            continue
        position, letter, job_id, token = line.split()
        place = place_of(position)
        if forgotten and any(first < place <= last for first, last in forgotten):
            skipped += 1
            continue
        event = EVENTS.get(letter, letter)
        history.event(place[0], event, job_id, int(token))
        recoveries.event(place[0], event, job_id)
    return skipped


def place_of(position: str) -> tuple[int, int]:
    """Return an entry's time in ms and its number within it."""
    ms, _, number = position.partition("-")
    return int(ms), int(number)


def whole_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file; what a killed process has left unfinished is no line."""
    with path.open() as file:
        for line in file:
            if line.endswith("\n"):
                yield line[:-1]


def _forgotten(path: Path) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield from where to where a restarted server had lost what it had shown before."""
    for line in whole_lines(path):
        if line.startswith("R"):
            _, kept, seen = line.split()
            yield place_of(kept), place_of(seen)
