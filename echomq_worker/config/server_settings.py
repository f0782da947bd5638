"""Settings of the connection to Redis or Valkey."""

from dataclasses import dataclass

from echomq_worker.config.declare import Group, derived, optional, setting
from echomq_worker.config.parsers import Parser, duration, readable_file, switch, text, whole
from echomq_worker.config.redis_url import RedisUrl, expected_url, parse_redis_url
from echomq_worker.version import WIRE_VERSION

_URL = Parser(parse_redis_url, expected_url(), RedisUrl.redacted, explains=True)


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Where the queues live, and how to reach them."""

    redis_url: RedisUrl = setting(  # noqa: RUF009 - declares a field, as `field` does
        "REDIS_URL",
        _URL,
        "redis://127.0.0.1:6379/0",
        "Where the queues live: redis://, rediss:// (TLS), unix://, valkey:// or valkeys://.",
        group=Group.SERVER,
        secret=True,
        fallback="REDIS_URL",
    )
    redis_username: str | None = optional(
        "REDIS_USERNAME", text(), "User to log in as; wins over the URL's.", group=Group.SERVER
    )
    redis_password: str | None = optional(
        "REDIS_PASSWORD",
        text(strip=False, limit=65536),
        "Password to log in with; wins over the URL's.",
        group=Group.SERVER,
        secret=True,
    )
    redis_tls_ca_path: str | None = optional(
        "REDIS_TLS_CA_PATH",
        readable_file(),
        "PEM file with the authorities whose server certificates to trust.",
        group=Group.SERVER,
    )
    redis_tls_cert_path: str | None = optional(
        "REDIS_TLS_CERT_PATH",
        readable_file(),
        "PEM file with the certificate that we show to the server.",
        group=Group.SERVER,
    )
    redis_tls_key_path: str | None = optional(
        "REDIS_TLS_KEY_PATH",
        readable_file(),
        "PEM file with the private key of that certificate.",
        group=Group.SERVER,
    )
    redis_connect_timeout_ms: int = setting(
        "REDIS_CONNECT_TIMEOUT",
        duration("10ms", "10m"),
        "3s",
        "How long one attempt to connect may take.",
        group=Group.SERVER,
    )
    redis_timeout_ms: int = setting(
        "REDIS_TIMEOUT",
        duration("10ms", "10m"),
        "5s",
        "How long the answer to an ordinary command may take.",
        group=Group.SERVER,
    )
    redis_max_connections: int = derived(
        "REDIS_MAX_CONNECTIONS",
        whole(1, 65535),
        0,
        "ECHOMQ_CONCURRENCY + 4, at least 2 per queue + 4",
        "Most connections that the commands of all queues share. Each queue that is worked on "
        "opens a few of its own besides, and the renewal of leases one.",
        group=Group.SERVER,
    )
    redis_startup_timeout_ms: int = setting(
        "REDIS_STARTUP_TIMEOUT",
        duration("1ms", "1d", zero="no limit"),
        "30s",
        "How long a starting worker waits for the server before it exits with 69; 0 = for ever.",
        group=Group.SERVER,
    )
    wire_version: str = setting(
        "WIRE_VERSION",
        text("echomq:MAJOR.MINOR.PATCH", r"echomq:\d{1,6}\.\d{1,6}\.\d{1,6}"),
        WIRE_VERSION,
        "The wire version that every worker on the server must agree on.",
        group=Group.SERVER,
    )
    allow_eviction: bool = setting(
        "ALLOW_EVICTION",
        switch(),
        "false",
        "Go on although the server may drop jobs when its memory is short (maxmemory-policy).",
        group=Group.SERVER,
    )
    embedded_dir: str | None = optional(
        "EMBEDDED_DIR",
        text(),
        "Directory in which the embedded server keeps its data between runs.",
        group=Group.SERVER,
    )
