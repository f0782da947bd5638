"""From what was logged to one line's worth of plain data, in a fixed order, without secrets."""

import sys
import time
import traceback
from collections.abc import Callable, MutableMapping
from typing import Any, cast

import structlog
from structlog.tracebacks import ExceptionDictTransformer

from echomq_worker.domain.limits import LOG_EXCEPTION, LOG_TEXT
from echomq_worker.domain.redaction import HIDDEN, Redactor

MOST_FRAMES = 30
LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}

Redact = Callable[[object], object]
"""Hides secrets; done before a text is cut, since half a secret would not be recognised."""
Event = MutableMapping[str, Any]
Line = dict[str, Any]

_NUMBERS = frozenset({int, float, bool})

# The values of local variables would bring arguments and passwords into the log.
_structured = ExceptionDictTransformer(show_locals=False, max_frames=MOST_FRAMES)


def structured_exception(error: BaseException, redact: Redact) -> object:
    """Return an exception as nested data, for JSON. No local variables."""
    return _shortened(redact(_structured((type(error), error, error.__traceback__))))


def written_exception(error: BaseException, redact: Redact) -> str:
    """Return an exception as Python prints it. No local variables."""
    parts = traceback.format_exception(type(error), error, error.__traceback__, limit=-MOST_FRAMES)
    return "".join(_cut(str(redact(part)), LOG_EXCEPTION) for part in parts).rstrip("\n")


def _shortened(data: object) -> object:
    """Cut all texts in what describes an exception, those of its causes and parts included."""
    match data:
        case str():
            return _cut(data, LOG_EXCEPTION)
        case list():
            return [_shortened(each) for each in cast("list[object]", data)]
        case dict():
            return {
                key: _shortened(value) for key, value in cast("dict[object, object]", data).items()
            }
        case _:
            return data


class Arrange:
    """The processor in front of the renderer.

    Args:
        redactor: hides secrets in every value.
        fixed: what every line says, such as the worker's name.
        exception: turns an exception into data.
        now: the Unix time in seconds.
    """

    def __init__(
        self,
        redactor: Redactor,
        fixed: Line,
        exception: Callable[[BaseException, Redact], object] = structured_exception,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._redactor = redactor
        self._fixed = fixed
        self._exception = exception
        self._now = now
        self._second = (-1, "")

    def __call__(self, logger: object, method: str, event: Event) -> Line:
        """Return the line of an event."""
        redactor = self._redactor
        line: Line = {"timestamp": self._timestamp(), "level": method, "event": ""}
        name = event.pop("logger", None) or getattr(logger, "name", None)
        if name:
            line["logger"] = name
        line |= self._fixed
        if "exc_info" in event:
            self._raised(event)
        if event.pop("stack_info", None):
            event["stack"] = "".join(traceback.format_stack()[:-2])
        for key, value in event.items():
            if redactor.hides(key) and value is not None and value is not True:
                line[key] = HIDDEN
            elif value is None or type(value) in _NUMBERS:
                line[key] = value
            else:
                plain = redactor.text(value) if type(value) is str else redactor.value(value)
                line[key] = _cut(plain) if isinstance(plain, str) else plain
        return line

    def _raised(self, event: Event) -> None:
        error = _exception_of(event.pop("exc_info"))
        if error is not None:
            event["exception"] = self._exception(error, self._redactor.value)

    def _timestamp(self) -> str:
        now = self._now()
        whole = int(now)
        second, text = self._second
        if second != whole:
            text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
            self._second = (whole, text)
        return f"{text}.{int((now - whole) * 1000):03d}Z"


class Threshold:
    """The processor that drops lines below the level of their logger.

    Args:
        levels: numeric level by the name of a logger; it counts for the loggers below it too.
        default: for all others.
    """

    def __init__(self, levels: dict[str, int], default: int) -> None:
        self._levels = levels
        self._default = default

    def __call__(self, logger: object, method: str, event: Event) -> Event:
        """Return the event, or raise `structlog.DropEvent`."""
        name = getattr(logger, "name", None) or ""
        while name and name not in self._levels:
            name = name.rpartition(".")[0]
        if LEVELS[method] < self._levels.get(name, self._default):
            raise structlog.DropEvent
        return event


def _exception_of(exc_info: object) -> BaseException | None:
    if isinstance(exc_info, tuple):
        parts = cast("tuple[object, ...]", exc_info)
        exc_info = next((part for part in parts if isinstance(part, BaseException)), None)
    if isinstance(exc_info, BaseException):
        return exc_info
    return sys.exc_info()[1] if exc_info else None


def _cut(text: str, longest: int = LOG_TEXT) -> str:
    if len(text) <= longest:
        return text
    end = "\n" if text.endswith("\n") else ""
    return f"{text[:longest]}... ({len(text) - longest} more characters){end}"
