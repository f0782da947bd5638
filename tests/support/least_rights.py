"""Lets what is tested connect as a user that may do only what `echomq doctor` says it needs.

Wanted by `ECHOMQ_TEST_LEAST_RIGHTS=1`. Tests look at the server, and break it, as its default user.
"""

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import quote

import redis

from echomq_worker.embedded import EmbeddedServer, find_server_binary
from echomq_worker.store.rights import Needs, Role

WANTED = os.environ.get("ECHOMQ_TEST_LEAST_RIGHTS") == "1"
QUEUES = ("t-*",)
"""The names that tests are given."""
ANY_QUEUE = ("*",)
PASSWORD = "least/rights"  # noqa: S105 - of a server that lives as long as the tests
_USER = "least-"


def least(url: str, role: Role = Role.OPERATOR, queues: tuple[str, ...] = QUEUES) -> str:
    """Return a URL by which one may do what `role` needs; `url` itself if that is not wanted."""
    if not WANTED:
        return url
    with redis.Redis.from_url(unrestricted(url)) as admin:
        info: dict[str, str] = admin.info("server")
        name = "valkey" if "valkey_version" in info else "redis"
        version = info.get("valkey_version") or info["redis_version"]
        needs = Needs(role=role, queues=queues, server=name, version=version, database=1)
        user = f"{_USER}{role}{'-everywhere' if queues == ANY_QUEUE else ''}"
        admin.execute_command(*needs.acl_line(user, PASSWORD).split())
    return _with_login(url, f"{user}:{quote(PASSWORD, safe='')}@")


def logged_in(url: str, role: Role) -> str:
    """Return a URL with the name and password of the user that a `server_with_users` has."""
    return _with_login(url, f"{_USER}{role}:{quote(PASSWORD, safe='')}@")


def unrestricted(url: str) -> str:
    """Return the URL by which one may do everything."""
    return _with_login(url, "") if f"//{_USER}" in url else url


def server_with_users(folder: Path, role: Role = Role.WORKER) -> EmbeddedServer:
    """Return a server, not started, whose users outlive a restart if they are wanted."""
    return _WithUsers(folder, role) if WANTED else EmbeddedServer(folder)


class _WithUsers(EmbeddedServer):
    def __init__(self, folder: Path, role: Role) -> None:
        super().__init__(folder)
        self._users = folder.with_name(f"{folder.name}.acl")
        program = find_server_binary()
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)  # noqa: S603
        version = re.search(r"\bv=([\d.]+)", said.stdout)
        needs = Needs(
            role=role,
            queues=ANY_QUEUE,
            server="valkey" if said.stdout.startswith("Valkey") else "redis",
            version=version[1] if version else None,
        )
        line = needs.acl_line(f"{_USER}{role}", PASSWORD).removeprefix("ACL SETUSER ")
        everybody = "user default on nopass ~* &* +@all"
        self._users.write_text(f"{everybody}\nuser {line.replace(' reset ', ' ')}\n")

    def _options(self) -> list[str]:
        return [*super()._options(), "--aclfile", str(self._users)]


def _with_login(url: str, login: str) -> str:
    scheme, _, place = url.partition("://")
    return f"{scheme}://{login}{place.rpartition('@')[2]}"
