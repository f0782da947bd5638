"""What the tests of the store share."""

from tests.faults.matrix.fixtures import forker, new_field
from tests.support.applications import app
from tests.support.commands import ask
from tests.support.far import far_line, far_queue, proxy
from tests.support.peers import flows, lanes, peer
from tests.support.private import admin, own_look, private_server
from tests.support.schedulers import times
from tests.support.shop import grumpy, shop
from tests.support.stores import line, look, nameless_line, new_line, queue, server
from tests.unit.conftest import untouched_logging

__all__ = [
    "admin",
    "app",
    "ask",
    "far_line",
    "far_queue",
    "flows",
    "forker",
    "grumpy",
    "lanes",
    "line",
    "look",
    "nameless_line",
    "new_field",
    "new_line",
    "own_look",
    "peer",
    "private_server",
    "proxy",
    "queue",
    "server",
    "shop",
    "times",
    "untouched_logging",
]
