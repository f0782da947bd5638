"""The families of keys know every key that the module of keys spells."""

import inspect

from echomq_worker.protocol.families import known_key
from echomq_worker.protocol.keyspace import JOB_SUBKEYS, Keyspace, stream_archived_key, stream_key

EXAMPLES = {"job_id": "JOB00000000001", "part": "logs", "group": "LAN00000000001"}
NO_KEYS = {"queue", "root", "events"}
"""`events` is a channel."""


def spelled() -> dict[str, str]:
    """Return every key that `Keyspace` spells, by the name of its member."""
    keys = Keyspace("q")
    found = {"stream": stream_key(keys, "x"), "archived": stream_archived_key(keys, "x")}
    for name, member in inspect.getmembers(Keyspace):
        if name.startswith("_") or name in NO_KEYS:
            continue
        if isinstance(member, property):
            found[name] = getattr(keys, name)
        else:
            parameters = list(inspect.signature(member).parameters)[1:]
            found[name] = getattr(keys, name)(*(EXAMPLES.get(each, "x") for each in parameters))
    return found


def test_every_key_that_is_spelled_is_known():
    root = Keyspace("q").root

    unknown = [name for name, key in spelled().items() if known_key(key.removeprefix(root)) is None]

    assert unknown == []


def test_every_part_of_a_job_is_known_with_its_type():
    kinds = {part: known_key(f"job:JOB00000000001:{part}") for part in JOB_SUBKEYS}

    assert {part: known.family.kinds for part, known in kinds.items() if known} == {
        **dict.fromkeys(("processed", "failed", "unsuccessful"), frozenset({"hash"})),
        **dict.fromkeys(("lock", "dependencies"), frozenset({"string"})),
        "logs": frozenset({"list"}),
    }


def test_what_nobody_spells_is_unknown():
    for suffix in ("surprise", "job:no-id", "job:JOB00000000001:other", "g:x:pending", "events"):
        assert known_key(suffix) is None
