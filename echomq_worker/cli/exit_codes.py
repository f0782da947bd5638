"""What a process says by its exit code, and which error means which."""

from enum import IntEnum

from echomq_worker.errors import (
    AccessError,
    ArgumentsError,
    CorruptSchedulerError,
    DuplicateJobError,
    EchoMQError,
    EmbeddedServerError,
    EvictionPolicyError,
    HandlerError,
    InvalidArgumentError,
    ResultUnavailableError,
    ServerError,
    SettingsError,
    UnavailableError,
    UnknownHandlerError,
    UnknownSchedulerError,
    WireVersionError,
)


class ExitCode(IntEnum):
    """Exit codes. A supervisor restarts after 1, 69 and 75, and not after 2, 77 and 78."""

    OK = 0
    """A clean stop, or a command that did what it was asked for."""
    FAILED = 1
    """An unexpected error, or a job that failed."""
    USAGE = 2
    """A bad command line."""
    NOT_FOUND = 3
    """Nothing was found."""
    PARTLY = 4
    """Some of the items failed."""
    REFUSED = 5
    """It cannot be done in this state."""
    UNAVAILABLE = 69
    """The server cannot be reached."""
    ABANDONED = 75
    """The time to stop was over, and jobs were still running."""
    NO_ACCESS = 77
    """Wrong user or password, or a command that this user may not send."""
    CONFIG = 78
    """Settings or the application cannot be used."""
    INTERRUPTED = 130
    """Ctrl-C."""


class CommandError(EchoMQError):
    """A command could not do what it was asked for.

    Args:
        message: what was wrong.
        code: how the process exits.
        hint: what to do about it.
    """

    def __init__(self, message: str, code: ExitCode, hint: str = "") -> None:
        super().__init__(message)
        self.exit_code = code
        self.hint = hint


_MEANING: tuple[tuple[type[EchoMQError], ExitCode], ...] = (
    (SettingsError, ExitCode.CONFIG),
    (WireVersionError, ExitCode.CONFIG),
    (EvictionPolicyError, ExitCode.CONFIG),
    (HandlerError, ExitCode.CONFIG),
    (AccessError, ExitCode.NO_ACCESS),
    (UnavailableError, ExitCode.UNAVAILABLE),
    (EmbeddedServerError, ExitCode.UNAVAILABLE),
    (UnknownHandlerError, ExitCode.NOT_FOUND),
    (UnknownSchedulerError, ExitCode.NOT_FOUND),
    (ResultUnavailableError, ExitCode.NOT_FOUND),
    (DuplicateJobError, ExitCode.REFUSED),
    (CorruptSchedulerError, ExitCode.REFUSED),
    (ServerError, ExitCode.REFUSED),
    (InvalidArgumentError, ExitCode.USAGE),
    (ArgumentsError, ExitCode.USAGE),
)


def exit_code(error: EchoMQError) -> ExitCode:
    """Return the exit code for an error: its own `exit_code`, or what its class means."""
    own = getattr(error, "exit_code", None)
    if own is not None:
        return ExitCode(own)
    return next((code for kind, code in _MEANING if isinstance(error, kind)), ExitCode.FAILED)
