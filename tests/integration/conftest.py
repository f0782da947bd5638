"""What the tests with a server share."""

from tests.support.behaviour import driver
from tests.support.commands import ask
from tests.support.stores import line, look, nameless_line, new_line, queue, server

__all__ = ["ask", "driver", "line", "look", "nameless_line", "new_line", "queue", "server"]
