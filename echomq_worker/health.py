"""`python -m echomq_worker.health`: is the worker on this machine well?

A probe runs every few seconds in every container, so this module uses the standard library only
and imports nothing else of the package. It reads the small file that a worker rewrites once a
beat, and exits with 0 (well) or 1 (not well, and it says why).

Which file: the one that `ECHOMQ_HEALTH_FILE` names; else `<worker name>.json` in the directory
`echomq-<user id>` of `$XDG_RUNTIME_DIR`, or of the directory for temporary files. If neither
`--worker` nor `ECHOMQ_WORKER_NAME` chooses one, every worker found there must be well; files
left behind by processes that are gone do not count as long as one worker lives.
"""

import argparse
import io
import json
import os
import re
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FRESH_S = 10.0
"""An older beat or claim is stale (three beats, where those are longer)."""
LARGEST_FILE = 65_536
NEEDS = ("healthy", "live", "ready")

Beat = Mapping[str, Any]


def default_directory(environ: Mapping[str, str]) -> Path:
    """Return the directory for the heartbeat files of this user."""
    base = environ.get("XDG_RUNTIME_DIR") or environ.get("TMPDIR") or "/tmp"  # noqa: S108 - the directory in it is checked to be ours
    return Path(base) / f"echomq-{os.getuid()}"


def file_of(worker: str, directory: Path) -> Path:
    """Return the heartbeat file of a worker."""
    return directory / (re.sub(r"[^A-Za-z0-9._-]", "_", worker) + ".json")


def problems(beat: Beat, now: float, need: str) -> list[str]:
    """Return what speaks against a worker's health; nothing if it is well.

    Args:
        beat: what its file says.
        now: Unix seconds.
        need: `live` asks for a beating loop, and for claims as long as the server answers (a
            worker must not be restarted because the server is away); `healthy` asks for claims
            that are answered; `ready` for a worker that takes jobs as well.
    """
    limit = max(FRESH_S, 3 * beat["beat_ms"] / 1000)
    found: list[str] = []
    if not _fresh(beat["beat_at"], now, limit):
        found.append(
            f"no beat for {_age(beat['beat_at'], now)} (one is due every {beat['beat_ms']} ms)"
        )
    if need == "ready" and beat["state"] != "running":
        found.append(f"it is {beat['state']}")
    if need != "live" and not beat["redis_up"]:
        found.append("the server does not answer")
    claims_due = beat["state"] == "running" or (beat["state"] == "starting" and need != "live")
    if claims_due and (beat["redis_up"] or need != "live"):
        if beat["claim_at"] is None:
            found.append("no claim was answered yet")
        elif not _fresh(beat["claim_at"], now, limit):
            found.append(f"no claim was answered for {_age(beat['claim_at'], now)}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Look once, say what was found, and return the exit code."""
    options = _parse(arguments)
    _give_up_after(options.timeout, as_json=options.as_json)
    need = "live" if options.live else "ready" if options.ready else "healthy"
    worker = options.worker or os.environ.get("ECHOMQ_WORKER_NAME")
    lines = _report(_files(worker, os.environ), time.time(), need)
    reasons = [line for line in lines if line.startswith("not ")]
    _write(_verdict(reasons) if options.as_json else "\n".join(lines))
    return 1 if reasons else 0


def _verdict(reasons: Sequence[str]) -> str:
    return json.dumps({"well": not reasons, "reasons": reasons})


def _write(text: str) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody listens, and the exit code is what counts. Python would flush once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="echomq health",
        description="Say whether the worker on this machine is well. Exit 0 if so, else 1.",
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--live", action="store_true", help="it beats (restart it if not)")
    kind.add_argument("--ready", action="store_true", help="it runs and claims jobs")
    parser.add_argument("--worker", metavar="NAME", help="only the worker of this name")
    parser.add_argument(
        "--timeout", type=_seconds, default=2.0, metavar="2s", help="give up after this long"
    )
    parser.add_argument(
        "--json", dest="as_json", action="store_true", help="write {well, reasons} as JSON"
    )
    return parser.parse_args(arguments)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s|m)?", text)
    if match is None:
        message = f"{text!r} is no duration: expected one such as 2s or 500ms"
        raise argparse.ArgumentTypeError(message)
    return float(match[1]) * {"ms": 0.001, "s": 1.0, "m": 60.0}[match[2] or "s"]


def _give_up_after(seconds: float, *, as_json: bool) -> None:
    def give_up(_signal: int, _frame: object) -> None:
        reason = f"not well: the heartbeat file could not be read within {seconds:g} s"
        _write(_verdict([reason]) if as_json else reason)
        os._exit(1)

    if seconds:
        signal.signal(signal.SIGALRM, give_up)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _files(worker: str | None, environ: Mapping[str, str]) -> list[Path]:
    if named := environ.get("ECHOMQ_HEALTH_FILE"):
        return [Path(named)]
    directory = default_directory(environ)
    if worker:
        return [file_of(worker, directory)]
    return sorted(directory.glob("*.json")) or [directory / "*.json"]


def _report(files: list[Path], now: float, need: str) -> list[str]:
    beats = {path: _read(path) for path in files}
    living = {path: beat for path, beat in beats.items() if not _left_behind(beat, now)}
    return [_line(path, beat, now, need) for path, beat in (living or beats).items()]


def _line(path: Path, beat: Beat | str, now: float, need: str) -> str:
    if isinstance(beat, str):
        return f"not well: {path} {beat}; is the worker running, by the same user?"
    name = f"worker {beat['worker']} (process {beat['pid']}, {beat['state']})"
    if found := problems(beat, now, need):
        return f"not {need}: {name}: {'; '.join(found)}"
    return f"{need}: {name}: beat {_age(beat['beat_at'], now)} ago"


def _read(path: Path) -> Beat | str:
    try:
        with path.open("rb") as file:
            beat: Any = json.loads(file.read(LARGEST_FILE))
    except FileNotFoundError:
        return "does not exist"
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or 'it is no JSON'}"
    return beat if _complete(beat) else "is no heartbeat of a worker"


def _complete(beat: Any) -> bool:  # noqa: ANN401 - whatever the file holds
    number = (int, float)
    return (
        isinstance(beat, dict)
        and isinstance(beat.get("pid"), int)
        and isinstance(beat.get("worker"), str)
        and beat.get("state") in {"starting", "running", "draining"}
        and isinstance(beat.get("beat_at"), number)
        and isinstance(beat.get("claim_at"), (*number, type(None)))
        and isinstance(beat.get("redis_up"), bool)
        and isinstance(beat.get("beat_ms"), number)
    )


def _left_behind(beat: Beat | str, now: float) -> bool:
    if isinstance(beat, str) or _fresh(beat["beat_at"], now, FRESH_S):
        return False
    try:
        os.kill(beat["pid"], 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False


def _fresh(at: float, now: float, limit: float) -> bool:
    # A time in the future was written before the clock stepped back: it proves nothing.
    return abs(now - at) <= limit


def _age(at: float, now: float) -> str:
    return f"{max(0.0, now - at):.1f} s"


if __name__ == "__main__":
    sys.exit(main())
