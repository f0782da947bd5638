"""Whether the server answers, and lets us in."""

from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.say import fail, ok, warn
from echomq_worker.domain.finding import Finding

SLOW_MS = 50


def connects(facts: Facts) -> list[Finding]:
    """The server answers, takes user and password, and holds our wire version."""
    name = "connects"
    if facts.server is None:
        return [fail(name, f"{facts.location}: {facts.trouble or 'no answer'}")]
    took = facts.server.round_trip_ms
    text = f"{facts.location} answers within {took:.1f} ms"
    if took > SLOW_MS:
        return [warn(name, text, "a claim takes one round trip: run workers near the server")]
    return [ok(name, text)]


def role(facts: Facts) -> list[Finding]:
    """It is a primary, alone or with replicas, and no cluster."""
    name, server = "role", facts.server
    if server is None:
        return []
    if server.info.get("role") == "slave":
        text = "this is a replica, which refuses every write"
        return [fail(name, text, "name the primary in ECHOMQ_REDIS_URL")]
    if server.info.get("redis_mode") == "cluster":
        return [warn(name, "this is a node of a cluster", "workers need a server that is none")]
    replicas = server.number("connected_slaves")
    return [ok(name, f"a primary with {replicas} replicas" if replicas else "a primary")]
