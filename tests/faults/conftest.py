"""What the tests of the store share."""

from tests.support.stores import line, look, nameless_line, new_line, queue, server

__all__ = ["line", "look", "nameless_line", "new_line", "queue", "server"]
