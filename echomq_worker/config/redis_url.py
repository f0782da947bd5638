"""The address of the server, in every spelling that people use."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from echomq_worker.domain.redaction import HIDDEN
from echomq_worker.errors import InvalidArgumentError

DEFAULT_PORT = 6379
SENTINEL_PORT = 26379
LAST_PORT = 65535
SCHEMES = (
    "redis", "rediss", "valkey", "valkeys", "unix",
    "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster",
)  # fmt: skip

_ESCAPE = (
    "write special characters of the password as % codes (/ is %2F, ? is %3F, # is %23, @ is %40)"
)
_OPTIONS = ("db", "username", "password", "ssl_cert_reqs")


class Kind(StrEnum):
    """What stands at the address."""

    SERVER = "server"
    SOCKET = "unix socket"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RedisUrl:
    """Where the server is and who we are there. No way of printing it shows the password."""

    kind: Kind = Kind.SERVER
    tls: bool = False
    addresses: tuple[Address, ...] = (Address("127.0.0.1", DEFAULT_PORT),)
    """One for a server, one or more for sentinels and clusters, none for a socket."""
    socket_path: str | None = None
    service: str | None = None
    """The name under which sentinels know the primary."""
    db: int = 0
    username: str | None = None
    password: str | None = None
    verify_tls: bool = True
    """False (`?ssl_cert_reqs=none`) accepts any certificate."""

    @property
    def host(self) -> str | None:
        """The (first) host; None for a socket."""
        return self.addresses[0].host if self.addresses else None

    @property
    def port(self) -> int | None:
        """The (first) port; None for a socket."""
        return self.addresses[0].port if self.addresses else None

    def with_credentials(self, username: str | None, password: str | None) -> Self:
        """Return the same address for another user; None keeps what the URL says."""
        return replace(self, username=username or self.username, password=password or self.password)

    def for_client(self) -> str:
        """Return the URL that the client library understands. It holds the password."""
        return self._spelled(quote(self.password, safe="") if self.password else "")

    def redacted(self) -> str:
        """Return the URL for people to read, without the password."""
        return self._spelled(HIDDEN if self.password else "")

    def __repr__(self) -> str:
        return f"RedisUrl({self.redacted()!r})"

    __str__ = redacted

    def _spelled(self, password: str) -> str:
        user = quote(self.username, safe="") if self.username else ""
        login = f"{user}:{password}@" if password else f"{user}@" if user else ""
        if self.kind is Kind.SOCKET:
            db = f"?db={self.db}" if self.db else ""
            return f"unix://{login}{quote(self.socket_path or '')}{db}"
        scheme = "rediss" if self.tls else "redis"
        suffix = "" if self.kind is Kind.SERVER else f"+{self.kind}"
        service = f"/{self.service}" if self.service else ""
        hosts = ",".join(map(str, self.addresses))
        check = "" if self.verify_tls else "?ssl_cert_reqs=none"
        return f"{scheme}{suffix}://{login}{hosts}{service}/{self.db}{check}"


def parse_redis_url(given: str) -> RedisUrl:
    """Read the URL of a server, socket, group of sentinels or cluster.

    Raises:
        InvalidArgumentError: if it is none of them. The text repeats nothing of the URL, for
            what is taken for a host may be a part of the password.
    """
    scheme, colon, _ = given.strip().partition("://")
    if not colon or scheme.lower() not in SCHEMES:
        raise InvalidArgumentError(expected_url())
    try:
        parts = urlsplit(given.strip())
        options = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=20))
    except ValueError:
        msg = f"the URL cannot be taken apart: {_ESCAPE}"
        raise InvalidArgumentError(msg) from None
    if parts.fragment or any(name not in _OPTIONS for name in options):
        msg = (
            f"the URL has an option other than {', '.join(_OPTIONS)}: for time-outs and "
            f"connections use the ECHOMQ_REDIS_* settings, and {_ESCAPE}"
        )
        raise InvalidArgumentError(msg)
    return _parsed(parts, options)


def expected_url() -> str:
    """Say what a good URL is."""
    kinds = ", ".join(f"{scheme}://" for scheme in SCHEMES)
    return f"expected a URL such as redis://127.0.0.1:6379/0 that begins with one of {kinds}"


def _parsed(parts: SplitResult, options: dict[str, str]) -> RedisUrl:
    login, _, hosts = parts.netloc.rpartition("@")
    username, _, password = login.partition(":")
    scheme, _, suffix = parts.scheme.partition("+")
    kind = Kind.SOCKET if scheme == "unix" else Kind(suffix) if suffix else Kind.SERVER
    url = RedisUrl(
        kind=kind,
        tls=scheme in {"rediss", "valkeys"},
        username=options.get("username") or unquote(username) or None,
        password=options.get("password") or unquote(password) or None,
        verify_tls=_verify(options.get("ssl_cert_reqs", "required")),
    )
    if kind is Kind.SOCKET:
        return _at_socket(url, parts, hosts, options.get("db", "0"))
    path = [unquote(part) for part in parts.path.split("/") if part]
    service = path.pop(0) if kind is Kind.SENTINEL and path else None
    return replace(
        url,
        addresses=_addresses(hosts, SENTINEL_PORT if kind is Kind.SENTINEL else DEFAULT_PORT),
        service=service,
        db=_database(options.get("db") or "/".join(path) or "0"),
    )


def _at_socket(url: RedisUrl, parts: SplitResult, hosts: str, db: str) -> RedisUrl:
    if hosts or not parts.path.startswith("/") or parts.path == "/":
        msg = "a unix:// URL needs an absolute path after three slashes: unix:///run/redis.sock"
        raise InvalidArgumentError(msg)
    return replace(url, addresses=(), socket_path=unquote(parts.path), db=_database(db))


def _addresses(hosts: str, default_port: int) -> tuple[Address, ...]:
    if not hosts:
        return (Address("127.0.0.1", default_port),)
    return tuple(_address(host, default_port) for host in hosts.split(","))


def _address(text: str, default_port: int) -> Address:
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.%]+)\]|([\w.-]+))?(?::([0-9]{1,5}))?", text, re.ASCII)
    port = int(match[3]) if match and match[3] else default_port
    if match is None or not 0 < port <= LAST_PORT:
        msg = f"the host or port cannot be read: expected host:port with a port to 65535; {_ESCAPE}"
        raise InvalidArgumentError(msg)
    return Address(match[1] or match[2] or "127.0.0.1", port)


def _database(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text, re.ASCII):
        msg = f"what follows the host must be a database number, such as /0; {_ESCAPE}"
        raise InvalidArgumentError(msg)
    return int(text)


def _verify(word: str) -> bool:
    wanted = word.lower().removeprefix("cert_")
    if wanted not in {"required", "none"}:
        msg = "the option ssl_cert_reqs must be required or none"
        raise InvalidArgumentError(msg)
    return wanted == "required"
