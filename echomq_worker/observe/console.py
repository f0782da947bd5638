"""How a line looks to a person at a terminal."""

import time
from collections.abc import Callable, Sequence
from typing import cast

from echomq_worker.domain.duration import format_duration
from echomq_worker.domain.printable import printable
from echomq_worker.observe.arrange import Line
from echomq_worker.observe.render import as_word

_RESET = "\x1b[0m"
_COLOURS = {"green": "\x1b[32m", "yellow": "\x1b[33m", "red": "\x1b[31m", "dim": "\x1b[2m"}
_SIGNS = {"✓": "+", "✗": "x", "↩": "<"}
_OF_LEVEL = {"warning": "yellow", "error": "red", "critical": "red", "debug": "dim"}
_UNSHOWN = frozenset({"timestamp", "level", "event", "logger", "worker", "exception", "stack"})


class Console:
    """The renderer for terminals: jobs and stops as sentences, the rest as `event key=value`.

    Args:
        colour: use ANSI colours.
        unicode: use signs outside ASCII.
        tracebacks: show them for attempts that will be repeated as well.
        clock: the local time of day, for the front of the line.
    """

    def __init__(
        self,
        *,
        colour: bool = False,
        unicode: bool = True,
        tracebacks: bool = False,
        clock: Callable[[], time.struct_time] = time.localtime,
    ) -> None:
        self._colour = colour
        self._unicode = unicode
        self._tracebacks = tracebacks
        self._clock = clock

    def __call__(self, _logger: object, _method: str, line: Line) -> bytes:
        """Return the line, and the traceback below it if there is one."""
        sentence = _SENTENCES.get(line["event"])
        text = self._job(line, *sentence) if sentence else self._other(line)
        parts = [f"{time.strftime('%H:%M:%S', self._clock())} {text}"]
        if line["event"] != "job.failed" or self._tracebacks:
            parts += [self._below(line[key]) for key in ("exception", "stack") if line.get(key)]
        return "\n".join(parts).encode("utf-8" if self._unicode else "ascii", "backslashreplace")

    def _job(self, line: Line, sign: str, colour: str, tell: "Tell") -> str:
        sign = sign if self._unicode else _SIGNS.get(sign, sign)
        who = f"{line.get('job_name') or line.get('queue', '?')} {line.get('job_id', '?')}"
        return f"{self._in(colour, sign)} {printable(f'{who} {tell(line)}')}"

    def _other(self, line: Line) -> str:
        level = line["level"]
        tell = _LIFE.get(line["event"])
        if tell is not None and level in {"info", "warning"}:
            return printable(tell(line))
        pairs = [f"{key}={as_word(value)}" for key, value in line.items() if key not in _UNSHOWN]
        told = " ".join([str(line["event"]), *pairs])
        head = "" if level == "info" else self._in(_OF_LEVEL.get(level, "dim"), level) + " "
        return head + printable(told)

    def _below(self, text: object) -> str:
        lines = printable(str(text), keep_lines=True).split("\n")
        return self._in("dim", "\n".join(f"    {line}" for line in lines))

    def _in(self, colour: str, text: str) -> str:
        return f"{_COLOURS[colour]}{text}{_RESET}" if self._colour else text


def seconds(value: object) -> str:
    """Write a number of seconds for people: `182 ms`, `2.1 s`, `1m30s`."""
    if not isinstance(value, int | float) or value < 0:
        return "?"
    if value < 1:
        return f"{value * 1000:.0f} ms" if value >= 0.001 else f"{value * 1000:.1f} ms"  # noqa: PLR2004 - a millisecond
    return f"{value:.1f} s" if value < 60 else format_duration(round(value) * 1000)  # noqa: PLR2004 - a minute


Tell = Callable[[Line], str]


def _completed(line: Line) -> str:
    age = f" (started {seconds(line['age'])} after its enqueue)" if "age" in line else ""
    return seconds(line.get("duration")) + age


def _failed(line: Line) -> str:
    return f"{_attempt(line)}; next try in {seconds(line.get('next_run_in'))}"


def _buried(line: Line) -> str:
    reason = line.get("reason")
    if "error_type" not in line:
        told = f"attempt {line.get('attempt', '?')}"
    else:
        told = _attempt(line)
        if reason and str(reason).startswith(_error(line)):  # it has been said
            reason = None
    return f"{told}; dead" + (f": {reason}" if reason else "")


def _attempt(line: Line) -> str:
    number = f"{line.get('attempt', '?')}/{line.get('max_attempts', '?')}"
    return f"attempt {number} failed after {seconds(line.get('duration'))}: {_error(line)}"


def _error(line: Line) -> str:
    return f"{line.get('error_type', 'error')}: {line.get('error_message', '')}".rstrip(": ")


def _snoozed(line: Line) -> str:
    return f"asked to run again in {seconds(line.get('next_run_in'))}"


def _returned(line: Line) -> str:
    return f"handed back after {seconds(line.get('duration'))} ({line.get('reason', 'shutdown')})"


_SENTENCES: dict[str, tuple[str, str, Tell]] = {
    "job.completed": ("✓", "green", _completed),
    "job.failed": ("!", "yellow", _failed),
    "job.buried": ("✗", "red", _buried),
    "job.snoozed": ("↩", "dim", _snoozed),
    "job.returned": ("↩", "dim", _returned),
}


def _started(line: Line) -> str:
    return f"started: claims jobs from {_listed(line.get('queues'))}"


def _draining(line: Line) -> str:
    running = line.get("running") or 0
    if not running:
        return f"draining ({line.get('reason', '?')}): nothing runs"
    again = " Ctrl-C again cancels." if line.get("reason") == "SIGINT" else ""
    return (
        f"draining ({line.get('reason', '?')}): {running} running "
        f"({_listed(line.get('job_names'))}), up to {seconds(line.get('budget'))}.{again}"
    )


def _stopped(line: Line) -> str:
    code = line.get("exit_code")
    how = "stopped cleanly" if code == 0 else f"stopped with exit code {code}"
    return f"{how} after {seconds(line.get('after'))}: {line.get('did', '?')}"


def _listed(names: object) -> str:
    if not isinstance(names, list | tuple):
        return "?"
    return ", ".join(map(str, cast("Sequence[object]", names))) or "?"


_LIFE: dict[str, Tell] = {
    "worker.started": _started,
    "worker.draining": _draining,
    "worker.stopped": _stopped,
}
