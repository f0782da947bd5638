"""Every error that this library raises on purpose, in one place.

Each text says what was wrong, what was expected and what to do.
"""

from collections.abc import Sequence


class EchoMQError(Exception):
    """Root of all errors of this library."""


class InvalidArgumentError(EchoMQError, ValueError):
    """A value given by the caller cannot be used. Nothing was sent."""


class InvalidIdError(InvalidArgumentError):
    """A text is not a branded id (or not one of the wanted kind)."""


class InvalidQueueError(InvalidArgumentError):
    """A queue name breaks the naming rule."""


class PayloadTooLargeError(InvalidArgumentError):
    """A payload is over the limit."""


class CronError(InvalidArgumentError):
    """A cron expression cannot be used: the text names the field and says what it may hold."""


class UnknownZoneError(InvalidArgumentError):
    """A text names no time zone of the IANA database."""


class ArgumentsError(EchoMQError, TypeError):
    """Arguments do not fit the handler's signature or annotations."""


class ClockError(EchoMQError):
    """The machine's clock shows a time that an id cannot hold."""


class HandlerError(EchoMQError, TypeError):
    """A function cannot be registered as it is declared."""


class ResultError(EchoMQError, TypeError):
    """A result cannot be written as JSON, or not be read back as what its handler returns."""


class UnknownHandlerError(EchoMQError, LookupError):
    """No handler of that name is registered here."""


class UnknownSchedulerError(EchoMQError, LookupError):
    """The queue has no scheduler of that name."""


class DuplicateJobError(EchoMQError):
    """A job with that id exists already, and it is not the one that was to be enqueued."""


class LaneFullError(EchoMQError):
    """A lane holds as many waiting jobs as it may, and refused more.

    `ids` has the ids of the jobs that were refused; all others of the call have gone in.
    """

    def __init__(self, message: str = "", *, ids: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.ids = tuple(ids)


class NotPausedError(EchoMQError):
    """A queue has to be paused before all of it is removed."""


class ActiveJobsError(EchoMQError):
    """Jobs of the queue are active, so it was left alone."""


class SettingsError(EchoMQError):
    """One or more settings cannot be used.

    `problems` has one line for each, `warnings` one for each other oddity that was seen.
    """

    def __init__(self, problems: list[str], warnings: Sequence[str] = ()) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
        self.warnings = list(warnings)


class ServerError(EchoMQError):
    """The server refused or failed a command; repeating it as it is will not help.

    When jobs were enqueued, `ids` has the id of each, in the order of the calls, also those that
    the library minted: give them as `job_id=` when you ask again, and no job goes in twice.
    Otherwise it is empty.
    """

    ids: tuple[str, ...] = ()

    def __init__(self, message: str = "", *, ids: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.ids = tuple(ids)


class UnavailableError(ServerError):
    """The server could not be reached, or did not answer: then the outcome is unknown.

    Every write of this library is safe to ask again with the same id: see `ids`.
    """


class OutOfMemoryError(ServerError):
    """The server is at its memory limit and refused the write, which changed nothing.

    Of many jobs, earlier ones may have gone in: the text says how many. See `ids`.
    """


class AccessError(ServerError):
    """Wrong user or password, or a command or key that this user may not touch."""


class WrongTypeError(ServerError):
    """A key of the queue holds a value of another type. Nothing was changed."""


class WireVersionError(ServerError):
    """The server holds queues of another wire (or extension) version."""

    def __init__(self, message: str, *, found: str, own: str) -> None:
        super().__init__(message)
        self.found = found
        self.own = own


class EvictionPolicyError(ServerError):
    """The server may drop keys when memory is short, and jobs with them."""


class EmbeddedServerError(EchoMQError):
    """No server program was found, or the one found did not start."""


class CorruptSchedulerError(EchoMQError, ValueError):
    """What is stored of a scheduler cannot be read; the other schedulers are not affected."""


class JobFailedError(EchoMQError):
    """The job whose result was asked for has died.

    `error_type` is the name of the exception of its last attempt, `error_message` what it said.
    """

    def __init__(self, message: str, *, error_type: str, error_message: str) -> None:
        super().__init__(message)
        self.error_type = error_type
        self.error_message = error_message


class ResultUnavailableError(EchoMQError):
    """The job is gone and kept no result (or it has expired)."""


class ResultTimeoutError(EchoMQError, TimeoutError):
    """The job had no result within the time given."""


class NotIdleError(EchoMQError):
    """The jobs of a test come to no end, or wait for what does not come."""
