"""Who gives a command, for those who wonder later."""

import getpass
import socket


def myself() -> str:
    """Return `user@host`."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in many containers
        user = "unknown"
    return f"{user}@{socket.gethostname()}"
