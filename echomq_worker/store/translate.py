"""Turns the client library's errors into ours, so that no other package needs to know it."""

import errno
import os
import re
import socket
import ssl
from collections.abc import Callable, Generator, Mapping
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
from echomq_worker.store.conditions import PASSING
from echomq_worker.store.gate import WaitedInVainError

_CODE = re.compile(r"(?:^|: -)([A-Z]{3,})\b")
"""The word that tells errors apart. Older servers put one of a script behind their own text."""


_CONNECTING = re.compile(r"Error .*?connecting to (\S+)\.(?: |$)", re.DOTALL)
"""How the client library says that it came to no connection, and where."""

_NEVER_SENT = ("Timeout connecting to server", "max number of clients reached")
"""How it says so without saying where."""


class FenceRefusedError(redis_errors.RedisError):
    """Carries our own error through the client library's connect."""

    def __init__(self, error: EchoMQError) -> None:
        super().__init__(str(error))
        self.error = error


class UnreachableError(UnavailableError):
    """No connection came about, so nothing was sent."""


class OvertakenError(ServerError):
    """A call came to the server after a later one of the same caller."""


@contextmanager
def translated_errors(about: str = "") -> Generator[None]:
    """Let no error of the client library out, but raise ours instead.

    `about` names what a refused command asked for, where the server's text does not.
    """
    try:
        yield
    except redis_errors.NoScriptError:
        raise
    except (redis_errors.RedisError, OSError, TimeoutError) as error:
        raise translated(error, about) from error


def translated(error: BaseException, about: str = "") -> EchoMQError:
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
        case redis_errors.ConnectionError() if isinstance(error.__cause__, redis_errors.RedisError):
            # While it connects, the client library wraps what the server said.
            return translated(error.__cause__)
        case redis_errors.ResponseError():
            return _refusal(_code(error, text), f"{about}: {text}" if about else text)
        case _:
            return _unanswered(error, text)


def _unanswered(error: BaseException, text: str) -> UnavailableError:
    if isinstance(error, redis_errors.ConnectionError) and (place := _CONNECTING.match(text)):
        return UnreachableError(f"cannot connect to the server at {place[1]}: {_why(error)}")
    reason = text or type(error).__name__
    if isinstance(error, WaitedInVainError) or any(said in text for said in _NEVER_SENT):
        return UnreachableError(f"no connection to the server, nothing was sent: {reason}")
    return UnavailableError(f"no answer from the server ({reason}); the outcome is unknown")


def _why(error: BaseException) -> str:
    cause = error.__cause__ or error.__context__
    match cause:
        # Before OSError, which it is too: its number is not one of the system's.
        case ssl.SSLCertVerificationError(verify_message=str(reason)):
            return (
                f"its certificate was refused: {reason.rstrip('.')}. It must name this host, be in "
                "force, and come from an authority that is trusted: ECHOMQ_REDIS_TLS_CA_PATH names "
                "a private one"
            )
        case ssl.SSLError():
            return f"TLS failed: {cause.reason or cause}. Does it speak TLS there (rediss://)?"
        case _:
            return f"{_system_reason(error, cause)}. Is it running? See ECHOMQ_REDIS_URL"


def _system_reason(error: BaseException, cause: BaseException | None) -> str:
    if f"[Errno {errno.ECONNREFUSED}]" in str(cause):
        return "connection refused"
    match cause:
        case socket.gaierror(strerror=str(reason)):
            return reason
        case OSError(errno=int(number)):
            return os.strerror(number)
        case _:
            return str(cause or error)


def _code(error: redis_errors.ResponseError, text: str) -> str:
    taken_off_by_client: str | None = getattr(error, "status_code", None)
    if taken_off_by_client and taken_off_by_client != "ERR":
        return taken_off_by_client
    if text.startswith("ACL failure in script"):
        return "NOPERM"
    found = _CODE.search(text)
    return found[1] if found is not None else ""


def _refusal(code: str, text: str) -> EchoMQError:
    make = _unavailable if code in PASSING else _REFUSALS.get(code)
    return ServerError(f"the server failed: {text}") if make is None else make(text)


def _unavailable(text: str) -> UnavailableError:
    return UnavailableError(f"the server cannot answer now: {text}")


def _out_of_memory(text: str) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"the server is out of memory and refused the write ({text}), which changed nothing: "
        "free memory or raise maxmemory, then ask again"
    )


_REFUSALS: Mapping[str, Callable[[str], EchoMQError]] = {
    "MOVED": lambda text: ServerError(
        f"another node of a cluster has this queue: {text}. Clusters are not supported yet: use a "
        "server that is not part of one"
    ),
    "NOPERM": lambda text: AccessError(f"this user may not do that: {text}. Extend its ACL rule"),
    "OOM": _out_of_memory,
    "WRONGTYPE": lambda text: WrongTypeError(
        f"{text}. The refused call changed nothing; move the foreign key away"
    ),
    "EMQKIND": InvalidIdError,
    "EMQARG": InvalidArgumentError,
    "EMQLATE": OvertakenError,
}
"""What a refusal becomes, by its code."""
