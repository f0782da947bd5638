"""What must hold between settings. Each one alone is checked where it is read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from echomq_worker.config.redis_url import Kind
from echomq_worker.domain.duration import format_duration

if TYPE_CHECKING:
    from echomq_worker.config.settings import Settings


def broken_rules(settings: "Settings") -> list[str]:
    """Return one sentence for each broken rule; the first word is the variable to change."""
    rules = (_server_kind, _tls_files, _connections, _renewal, _stuck, _cancel_grace)
    return [problem for rule in rules for problem in rule(settings)]


def _server_kind(settings: "Settings") -> Iterator[str]:
    kind = settings.redis_url.kind
    if kind in {Kind.SENTINEL, Kind.CLUSTER}:
        yield (
            f"ECHOMQ_REDIS_URL: {kind} URLs are not yet supported: use the redis://, rediss:// or "
            f"unix:// URL of one server"
        )


def _tls_files(settings: "Settings") -> Iterator[str]:
    paths = {
        "ECHOMQ_REDIS_TLS_CA_PATH": settings.redis_tls_ca_path,
        "ECHOMQ_REDIS_TLS_CERT_PATH": settings.redis_tls_cert_path,
        "ECHOMQ_REDIS_TLS_KEY_PATH": settings.redis_tls_key_path,
    }
    for variable, path in paths.items():
        if path and not settings.redis_url.tls:
            yield f"{variable}: is set, but ECHOMQ_REDIS_URL does not use TLS: expected rediss://"
    if settings.redis_tls_key_path and not settings.redis_tls_cert_path:
        yield "ECHOMQ_REDIS_TLS_KEY_PATH: needs ECHOMQ_REDIS_TLS_CERT_PATH as well"


def _connections(settings: "Settings") -> Iterator[str]:
    queues = len(settings.queues)
    needed = 2 * queues + 2
    if settings.redis_max_connections < needed:
        yield (
            f"ECHOMQ_REDIS_MAX_CONNECTIONS: {settings.redis_max_connections} is too few for "
            f"{queues} in ECHOMQ_QUEUES: expected at least {needed}, two per queue and 2"
        )


def _renewal(settings: "Settings") -> Iterator[str]:
    interval_ms, lease_ms = settings.lease_renew_interval_ms, settings.lease_ms
    # Below two thirds of it, one late renewal does not lose the lease.
    if interval_ms * 3 >= lease_ms * 2:
        yield (
            f"ECHOMQ_LEASE_RENEW_INTERVAL: {format_duration(interval_ms)} is too long for "
            f"ECHOMQ_LEASE ({format_duration(lease_ms)}): expected less than two thirds of it"
        )


def _stuck(settings: "Settings") -> Iterator[str]:
    stuck_ms, lease_ms = settings.stuck_after_ms, settings.lease_ms
    # A handler that holds up the loop for three leases is to run once all the same.
    if stuck_ms <= 3 * lease_ms:
        yield (
            f"ECHOMQ_STUCK_AFTER: {format_duration(stuck_ms)} is too short for ECHOMQ_LEASE "
            f"({format_duration(lease_ms)}): expected more than three times as long"
        )


def _cancel_grace(settings: "Settings") -> Iterator[str]:
    grace_ms, timeout_ms = settings.shutdown_cancel_grace_ms, settings.shutdown_timeout_ms
    if grace_ms > timeout_ms:
        yield (
            f"ECHOMQ_SHUTDOWN_CANCEL_GRACE: {format_duration(grace_ms)} is longer than "
            f"ECHOMQ_SHUTDOWN_TIMEOUT ({format_duration(timeout_ms)})"
        )
