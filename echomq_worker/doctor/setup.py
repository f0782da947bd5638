"""How this side is set up: the client library and the settings."""

from echomq_worker.config.redis_url import Kind
from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.say import ok, warn
from echomq_worker.domain.duration import format_duration
from echomq_worker.domain.finding import Finding


def client(facts: Facts) -> list[Finding]:
    """Time-outs, pool and protocol of the client library are those that we set."""
    settings, library = facts.settings, facts.client
    text = (
        f"redis-py {library.library}, protocol {library.protocol}, {library.retries} silent "
        f"retries, {settings.redis_max_connections} connections, "
        f"{format_duration(settings.redis_connect_timeout_ms)} to connect, "
        f"{format_duration(settings.redis_timeout_ms)} to answer"
    )
    return [ok("client", text)]


def encryption(facts: Facts) -> list[Finding]:
    """Over TLS, the server's certificate and name are verified."""
    name, url = "encryption", facts.settings.redis_url
    if url.kind is Kind.SOCKET:
        return [ok(name, "a unix socket: nothing leaves this machine")]
    if not url.tls:
        return [ok(name, "no TLS (redis://)", "rediss:// encrypts, and verifies the server")]
    if not url.verify_tls:
        text = "TLS with any certificate (ssl_cert_reqs=none): anybody may pose as the server"
        hint = "take the option away; ECHOMQ_REDIS_TLS_CA_PATH names a private authority"
        return [warn(name, text, hint)]
    return [ok(name, "TLS; the certificate and the name in it are verified")]


def settings(facts: Facts) -> list[Finding]:
    """Every ECHOMQ_ variable is a setting."""
    name = "settings"
    if facts.warnings:
        return [warn(name, text) for text in facts.warnings]
    return [ok(name, "all that are given are known")]
