"""Settings of logs, and of the process as a whole."""

from dataclasses import dataclass

from echomq_worker.config.declare import Group, derived, setting
from echomq_worker.config.parsers import choice, levels, switch, whole, words
from echomq_worker.domain.redaction import SECRET_KEYS

_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """What is written about the work, and how."""

    log_level: str = setting(
        "LOG_LEVEL", choice(*_LEVELS), "info", "debug, info, warning or error.", group=Group.LOGS
    )
    log_levels: tuple[tuple[str, str], ...] = derived(
        "LOG_LEVELS",
        levels(_LEVELS),
        (),
        "",
        "Levels of single loggers: redis=warning,myapp=debug.",
        group=Group.LOGS,
    )
    log_format: str = setting(
        "LOG_FORMAT",
        choice("auto", "json", "console", "logfmt"),
        "auto",
        "json, console or logfmt; auto = console on a terminal, else json.",
        group=Group.LOGS,
    )
    redact_keys: tuple[str, ...] = setting(
        "REDACT_KEYS",
        words("a list such as password,token,iban", r"[\w.-]{2,64}"),
        ",".join(SECRET_KEYS),
        "Parts of names whose values never appear in logs.",
        group=Group.LOGS,
    )
    log_events: int = setting(
        "LOG_EVENTS",
        whole(0, 100_000_000),
        "0",
        "How many lifecycle events each queue keeps in its log stream; 0 = none.",
        group=Group.LOGS,
    )

    uvloop: bool = setting(
        "UVLOOP", switch(), "true", "Use the faster event loop where it runs.", group=Group.PROCESS
    )
    strict: bool = setting(
        "STRICT",
        switch(),
        "false",
        "Take an unknown ECHOMQ_ variable for an error instead of a warning.",
        group=Group.PROCESS,
    )
    debug: bool = setting(
        "DEBUG",
        switch(),
        "false",
        "Show tracebacks of errors on the command line.",
        group=Group.PROCESS,
    )
