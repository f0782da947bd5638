"""Setting up logging, once, for a program that runs a worker."""

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

import structlog
from structlog.contextvars import merge_contextvars

from echomq_worker.config.settings import Settings
from echomq_worker.domain.redaction import Redactor
from echomq_worker.observe.arrange import (
    LEVELS,
    Arrange,
    Event,
    Threshold,
    structured_exception,
    written_exception,
)
from echomq_worker.observe.console import Console
from echomq_worker.observe.foreign import ForeignHandler
from echomq_worker.observe.render import render_json, render_logfmt
from echomq_worker.observe.sink import NamedLogger, NamedLoggers, Sink

Processor = Callable[[Any, str, Any], Any]


def configure_logging(
    settings: Settings,
    *,
    stream: BinaryIO | None = None,
    environ: Mapping[str, str] | None = None,
) -> Redactor:
    """Send structlog's and the standard library's logging to one stream, in one format.

    Only for programs that run a worker (`run`, `dev`, `demo`): a library leaves logging alone.

    Args:
        settings: level, levels of single loggers, format, names to hide.
        stream: where to write; standard output if None.
        environ: looked into for `NO_COLOR` and `FORCE_COLOR`; the process environment if None.

    Returns:
        What hides secrets in every line, to be told of those that are not known yet.
    """
    output = sys.stdout.buffer if stream is None else stream
    sink = Sink(output)
    levels = {name: LEVELS[level] for name, level in settings.log_levels}
    level = LEVELS[settings.log_level]
    redactor = Redactor(settings.redact_keys, settings.secrets)
    tail = _tail(settings, redactor, output, os.environ if environ is None else environ)
    threshold = [Threshold(levels, level)] if levels else []
    structlog.configure(
        processors=[merge_contextvars, *threshold, *tail],
        wrapper_class=structlog.make_filtering_bound_logger(min([level, *levels.values()])),
        logger_factory=NamedLoggers(sink),
        cache_logger_on_first_use=True,
    )
    _take_over_stdlib(ForeignHandler(_chain([merge_contextvars, *tail]), sink), level, levels)
    return redactor


def _tail(
    settings: Settings, redactor: Redactor, stream: BinaryIO, environ: Mapping[str, str]
) -> list[Processor]:
    fixed = {"worker": settings.worker_name}
    terminal = stream.isatty()
    form = settings.log_format
    if form == "console" or (form == "auto" and terminal):
        console = _console(settings, environ, terminal=terminal)
        return [Arrange(redactor, {}, written_exception), console]
    if form == "logfmt":
        return [Arrange(redactor, fixed, written_exception), render_logfmt]
    return [Arrange(redactor, fixed, structured_exception), render_json]


def _console(settings: Settings, environ: Mapping[str, str], *, terminal: bool) -> Console:
    plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
    return Console(
        colour=not plain and (terminal or bool(environ.get("FORCE_COLOR"))),
        unicode="utf" in (sys.stdout.encoding or "").lower(),
        tracebacks=settings.log_level == "debug",
    )


def _chain(processors: Sequence[Processor]) -> Callable[[str, Event], bytes]:
    nobody = NamedLogger(Sink(sys.stdout.buffer))

    def render(method: str, event: Event) -> bytes:
        for processor in processors:
            event = processor(nobody, method, event)
        return event  # pyright: ignore[reportReturnType] - the last one renders

    return render


def _take_over_stdlib(handler: logging.Handler, level: int, levels: Mapping[str, int]) -> None:
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name, own in levels.items():
        logging.getLogger(name).setLevel(own)
    logging.captureWarnings(capture=True)
