"""Whether jobs are still there after the server was restarted."""

from collections.abc import Iterator

from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.say import fail, ok, warn
from echomq_worker.domain.finding import Finding
from echomq_worker.domain.server_facts import ServerFacts

NAME = "persistence"
_STATUSES = {
    "rdb_last_bgsave_status": "the last snapshot",
    "aof_last_write_status": "the last write to the append-only file",
    "aof_last_bgrewrite_status": "the last rewrite of the append-only file",
}
_APPEND = "redis-cli CONFIG SET appendonly yes, then redis-cli CONFIG REWRITE"


def persistence(facts: Facts) -> list[Finding]:
    """Writes are logged to disk (AOF), and writing to the disk works."""
    server = facts.server
    if server is None:
        return []
    return [*_failed(server), _kept(server)]


def _failed(server: ServerFacts) -> Iterator[Finding]:
    for name, what in _STATUSES.items():
        if server.info.get(name, "ok") != "ok":
            hint = "look into the server's log; is the disk full, or not writable?"
            yield fail(NAME, f"{what} failed", hint)


def _kept(server: ServerFacts) -> Finding:
    logged = server.info.get("aof_enabled")
    config = server.config or {}
    if logged == "1":
        return _logged(config.get("appendfsync"))
    save = config.get("save")
    if logged is None or save is None:
        text = "the server does not tell whether it keeps jobs on disk"
        return warn(NAME, text, "make sure that its provider logs every write (AOF)")
    if save:
        text = f"only snapshots (save {save}): a restart loses what came after the last one"
        return warn(NAME, text, _APPEND)
    if server.number("connected_slaves"):
        text = "nothing is kept on disk: a restart empties this server, and its replicas with it"
        return fail(NAME, text, _APPEND)
    return warn(NAME, "nothing is kept on disk: a restart loses all jobs", _APPEND)


def _logged(sync: str | None) -> Finding:
    match sync:
        case "always":
            return ok(NAME, "every write is on disk before it is answered (appendfsync always)")
        case "everysec":
            text = "writes are logged; a power cut may lose about a second (appendfsync everysec)"
            return ok(NAME, text)
        case None:
            text = "writes are logged; the server does not tell how often they reach the disk"
            return warn(NAME, text, "make sure that appendfsync is everysec or always")
        case _:
            text = f"writes are logged, but reach the disk whenever (appendfsync {sync})"
            return warn(NAME, text, "redis-cli CONFIG SET appendfsync everysec")
