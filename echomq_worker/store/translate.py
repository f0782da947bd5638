"""Turns the client library's errors into ours, so that no other package needs to know it."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from redis import exceptions as redis_errors

from echomq_worker.errors import (
    AccessError,
    EchoMQError,
    InvalidArgumentError,
    InvalidIdError,
    OutOfMemoryError,
    ServerError,
    UnavailableError,
    WrongTypeError,
)

_PASSING = (
    "LOADING",
    "BUSY ",
    "READONLY",
    "MISCONF",
    "NOREPLICAS",
    "MASTERDOWN",
    "TRYAGAIN",
    "CLUSTERDOWN",
    "UNBLOCKED",
    "max number of clients",
)
"""Conditions of a server that pass by themselves, or that an operator ends."""


class FenceRefusedError(redis_errors.RedisError):
    """Carries our own error through the client library's connect."""

    def __init__(self, error: EchoMQError) -> None:
        super().__init__(str(error))
        self.error = error


class OvertakenError(ServerError):
    """A call came to the server after a later one of the same caller."""


@contextmanager
def translated_errors() -> Generator[None]:
    """Let no error of the client library out, but raise ours instead."""
    try:
        yield
    except redis_errors.NoScriptError:
        raise
    except (redis_errors.RedisError, OSError, TimeoutError) as error:
        raise translated(error) from error


def translated(error: BaseException) -> EchoMQError:
    """Return our error for one of the client library's."""
    text = str(error)
    match error:
        case FenceRefusedError():
            return error.error
        case redis_errors.AuthenticationError() | redis_errors.AuthorizationError():
            return AccessError(
                f"the server refused the user or password: {text}. Check ECHOMQ_REDIS_USERNAME "
                "and ECHOMQ_REDIS_PASSWORD (or the URL's)"
            )
        case redis_errors.NoPermissionError():
            return AccessError(f"this user may not do that: {text}. Extend its ACL rule")
        case redis_errors.OutOfMemoryError():
            return _out_of_memory(text)
        case redis_errors.ResponseError():
            return _refusal(text)
        case _:
            reason = text or type(error).__name__
            return UnavailableError(f"no answer from the server ({reason}); the outcome is unknown")


def _refusal(text: str) -> EchoMQError:
    for words, make in _REFUSALS:
        if any(word in text for word in words):
            return make(text)
    return ServerError(f"the server failed: {text}")


def _out_of_memory(text: str) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"the server is out of memory and refused the write ({text}). Nothing was changed; "
        "free memory or raise maxmemory, then ask again"
    )


_REFUSALS: tuple[tuple[tuple[str, ...], Callable[[str], EchoMQError]], ...] = (
    (
        ("WRONGPASS", "NOAUTH", "invalid password"),
        lambda text: AccessError(f"the server refused the user or password: {text}"),
    ),
    (
        ("NOPERM", "ACL failure in script"),
        lambda text: AccessError(f"this user may not do that: {text}. Extend its ACL rule"),
    ),
    (("OOM",), _out_of_memory),
    (_PASSING, lambda text: UnavailableError(f"the server cannot answer now: {text}")),
    (
        ("WRONGTYPE",),
        lambda text: WrongTypeError(f"{text}. Nothing was changed; move the foreign key away"),
    ),
    (("EMQKIND",), InvalidIdError),
    (("EMQARG",), InvalidArgumentError),
    (("EMQLATE",), OvertakenError),
)
"""What a refusal's text says, the first that fits, and what it becomes."""
