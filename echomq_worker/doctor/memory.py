"""What the server does when its memory is short, and how near that is."""

from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.say import fail, ok, warn
from echomq_worker.domain.finding import Finding

NARROW, FULL = 0.8, 0.95
"""Shares of the memory in use from which on it is a warning, and a failure."""
ROW_BYTES = 1_024
_MIB = 1 << 20


def eviction(facts: Facts) -> list[Finding]:
    """When memory is short the server refuses writes; it drops no keys."""
    name, server = "eviction", facts.server
    if server is None:
        return []
    policy = server.memory_policy
    if policy is None:
        text = "the server does not tell its maxmemory-policy"
        return [warn(name, text, "make sure that it is noeviction")]
    if policy == "noeviction":
        return [ok(name, "maxmemory-policy is noeviction")]
    text = f"maxmemory-policy is {policy}: the server may drop jobs without an error"
    hint = "redis-cli CONFIG SET maxmemory-policy noeviction, then redis-cli CONFIG REWRITE"
    how_bad = warn if facts.settings.allow_eviction else fail
    return [how_bad(name, text, hint)]


def memory(facts: Facts) -> list[Finding]:
    """There is room for more jobs."""
    name, server = "memory", facts.server
    if server is None:
        return []
    used = server.number("used_memory")
    limit, whose = server.number("maxmemory"), "of maxmemory"
    if not limit:
        limit, whose = server.number("total_system_memory"), "of the machine; no maxmemory is set"
    if not limit:
        text = f"{used / _MIB:.0f} MiB are used, of an unknown limit"
        return [warn(name, text, "watch the server's memory by other means")]
    share = used / limit
    text = f"{used / _MIB:.0f} of {limit / _MIB:.0f} MiB are used ({share:.0%} {whose})"
    hint = "raise maxmemory, or let fewer results and dead jobs be kept"
    if share >= FULL:
        return [fail(name, f"{text}: new jobs are about to be refused", hint)]
    return [warn(name, text, hint) if share >= NARROW else ok(name, text)]


def rows(facts: Facts) -> list[Finding]:
    """Rows of jobs with ordinary payloads are kept in the compact form."""
    name, server = "rows", facts.server
    if server is None:
        return []
    config = server.config or {}
    setting = "hash-max-listpack-value"
    told = config.get(setting) or config.get("hash-max-ziplist-value", "")
    if not told.isdigit():
        return [warn(name, f"the server does not tell its {setting}", f"set it to {ROW_BYTES}")]
    if int(told) >= ROW_BYTES:
        return [ok(name, f"{setting} is {told}")]
    text = f"{setting} is {told}: a job with a payload above {told} bytes takes more memory"
    return [warn(name, text, f"redis-cli CONFIG SET {setting} {ROW_BYTES}")]
