"""Records of the standard library's `logging`, as lines like our own."""

import logging
from collections.abc import Callable

from echomq_worker.observe.arrange import Event
from echomq_worker.observe.sink import Sink

_OWN_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_LEVELS = (
    (logging.CRITICAL, "critical"),
    (logging.ERROR, "error"),
    (logging.WARNING, "warning"),
    (logging.INFO, "info"),
)


class ForeignHandler(logging.Handler):
    """Renders records of other libraries and of user code, and writes them to our sink.

    Args:
        render: the chain of processors: level and event to the bytes of a line.
        sink: where lines go.
    """

    def __init__(self, render: Callable[[str, Event], bytes], sink: Sink) -> None:
        super().__init__()
        self._render = render
        self._sink = sink

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record. Never raises."""
        try:
            line = self._render(_level(record.levelno), _event(record))
        except Exception as error:  # noqa: BLE001 - a bad record must not hurt who logged it
            broken: Event = {
                "event": "log.record_unusable",
                "logger": record.name,
                "where": f"{record.pathname}:{record.lineno}",
                "error_type": type(error).__name__,
            }
            line = self._render("error", broken)
        self._sink.write(line)


def _event(record: logging.LogRecord) -> Event:
    event: Event = {"event": record.getMessage(), "logger": record.name}
    extra = vars(record).keys() - _OWN_ATTRIBUTES
    event |= {name: getattr(record, name) for name in sorted(extra)}
    if record.exc_info:
        event["exc_info"] = record.exc_info
    if record.stack_info:
        event["stack"] = record.stack_info
    return event


def _level(number: int) -> str:
    return next((name for limit, name in _LEVELS if number >= limit), "debug")
