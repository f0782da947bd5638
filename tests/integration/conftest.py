"""What the tests of the store share."""

from tests.support.applications import app
from tests.support.commands import ask
from tests.support.peers import flows, lanes, peer
from tests.support.private import admin, own_look, private_server
from tests.support.schedulers import cut, times
from tests.support.stores import line, look, nameless_line, new_line, queue, server

__all__ = [
    "admin",
    "app",
    "ask",
    "cut",
    "flows",
    "lanes",
    "line",
    "look",
    "nameless_line",
    "new_line",
    "own_look",
    "peer",
    "private_server",
    "queue",
    "server",
    "times",
]
