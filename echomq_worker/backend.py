"""Where an application's jobs go: a server, found by settings."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from echomq_worker.client.ports import Backend
from echomq_worker.domain.limits import PAYLOAD_BYTES
from echomq_worker.domain.size import parse_size

if TYPE_CHECKING:
    from echomq_worker.config import Settings
    from echomq_worker.store import ServerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """What the producers' side takes from settings."""

    make_backend: Callable[[], Backend]
    max_payload: int = PAYLOAD_BYTES
    """The largest payload, in bytes."""
    node: int | None = None
    """The node number of minted ids; None draws one."""


def wired_around(backend: Backend, flags: Mapping[str, str | None]) -> Wiring:
    """Use a backend that is given, and no settings but those given in code.

    Raises:
        InvalidArgumentError: if one of them cannot be used.
    """
    max_payload, node = flags.get("max_payload"), flags.get("node_id")
    return Wiring(
        make_backend=lambda: backend,
        max_payload=PAYLOAD_BYTES if max_payload is None else parse_size(max_payload),
        node=None if node is None else int(node),
    )


def wired_by_settings(flags: Mapping[str, str | None]) -> Wiring:
    """Read settings: what is given in code wins over the environment.

    Args:
        flags: texts by attribute of `Settings`; None was not given.

    Raises:
        SettingsError: with every problem at once.
    """
    from echomq_worker.config import load  # noqa: PLC0415 - not needed to declare handlers
    from echomq_worker.config.sources import decided_in_code  # noqa: PLC0415 - likewise

    origins = {attribute: decided_in_code(attribute) for attribute in flags}
    return wired_to(load(os.environ, flags, origins=origins).settings)


def wired_to(settings: "Settings", options: "ServerOptions | None" = None) -> Wiring:
    """Take what a producer needs from settings that were read already.

    Args:
        settings: read already.
        options: those of a server that this process uses besides. Whoever shares them takes turns
            in asking a server that is away.
    """
    if settings.redis_url.tls and not settings.redis_url.verify_tls:
        _warn_of_any_certificate()
    return Wiring(
        make_backend=lambda: _server(options or server_options(settings)),
        max_payload=settings.max_payload,
        node=settings.node_id,
    )


def _warn_of_any_certificate() -> None:
    import structlog  # noqa: PLC0415 - seldom needed

    structlog.get_logger("echomq").warning(
        "server.unverified",
        hint="ssl_cert_reqs=none takes any certificate: anybody may pose as the server. Take it "
        "away; ECHOMQ_REDIS_TLS_CA_PATH names a private authority",
    )


def server_options(settings: "Settings") -> "ServerOptions":
    """Return how to reach the server that the settings name."""
    from echomq_worker.store import ServerOptions  # noqa: PLC0415 - it loads redis

    return ServerOptions(
        url=settings.redis_url.for_client(),
        tls_ca_path=settings.redis_tls_ca_path,
        tls_cert_path=settings.redis_tls_cert_path,
        tls_key_path=settings.redis_tls_key_path,
        connect_timeout_ms=settings.redis_connect_timeout_ms,
        timeout_ms=settings.redis_timeout_ms,
        max_connections=settings.redis_max_connections,
        client_name=f"echomq:{settings.worker_name}",
        wire_version=settings.wire_version,
        log_size=settings.log_events,
    )


def _server(options: "ServerOptions") -> Backend:
    from echomq_worker.store import Server  # noqa: PLC0415 - it loads redis

    return Server(options)
