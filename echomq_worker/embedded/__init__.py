"""A real server of our own, for development, demonstrations and tests.

`EmbeddedServer` runs a Valkey or Redis server program as a child process on a private unix socket.
Nothing here knows a client library: whoever wants to talk to the server takes its URL.
"""

from echomq_worker.embedded.binary import find_server_binary
from echomq_worker.embedded.resolve import server_url
from echomq_worker.embedded.server import EmbeddedServer

__all__ = ["EmbeddedServer", "find_server_binary", "server_url"]
