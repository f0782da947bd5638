"""Talking to the server over its socket, just enough to know whether it is there."""

import socket
from pathlib import Path

REPLY_TIMEOUT_S = 1.0
REPLY_BYTES = 64


def answers_ping(path: Path) -> bool:
    """Return True if the server behind the unix socket at `path` takes commands.

    False while nobody listens, and while the server still loads its data.
    """
    return _ask(path, b"PING\r\n").startswith(b"+PONG")


def tell_to_shut_down(path: Path) -> None:
    """Ask the server behind the unix socket at `path` to end, if there is one."""
    _ask(path, b"SHUTDOWN NOSAVE\r\n")


def _ask(path: Path, command: bytes) -> bytes:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(REPLY_TIMEOUT_S)
            connection.connect(str(path))
            connection.sendall(command)
            return connection.recv(REPLY_BYTES)
    except OSError:
        return b""
