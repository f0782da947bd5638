"""What the tests of the store share."""

from tests.support.private import admin, own_look, private_server
from tests.support.stores import line, look, nameless_line, new_line, queue, server

__all__ = [
    "admin",
    "line",
    "look",
    "nameless_line",
    "new_line",
    "own_look",
    "private_server",
    "queue",
    "server",
]
