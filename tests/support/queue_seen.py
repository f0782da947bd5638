"""Reads a whole queue in one go, in the form of `queue_state.QueueState.everything`."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import redis

from tests.support.look import READS, pairs, text
from tests.support.queue_state import passed_or_not

READ_ALL = """
local found = {}
for i, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  local kind = redis.call('TYPE', key)['ok']
  local read = cjson.decode(ARGV[2])[kind]
  local command = table.remove(read, 1)
  found[i] = { string.sub(key, #ARGV[1] + 1), redis.call(command, key, unpack(read)) }
end
return found
"""


def seen(client: "redis.Redis", root: str) -> dict[str, Any]:
    """Return every key of a queue and its value; times are told by `passed_or_not`."""
    reply = cast("list[tuple[bytes, Any]]", client.eval(READ_ALL, 0, root, json.dumps(READS)))
    keys = {text(key): value for key, value in reply}
    meta = pairs(keys.pop("meta", []))
    found = {key: _read(key, value) for key, value in keys.items()}
    return found | {"paused": "paused" in meta}


def _read(key: str, value: Any) -> Any:
    return READERS.get("dead" if key == "dead:at" else key.partition(":")[0], text)(value)


def _all_at_0(flat: Sequence[Any]) -> list[str]:
    assert set(pairs(flat).values()) == {"0"}
    return list(pairs(flat))


def _times(flat: Sequence[Any]) -> list[tuple[str, int]]:
    return [(id_, passed_or_not(int(float(time)))) for id_, time in pairs(flat).items()]


def _row(flat: Sequence[Any]) -> dict[str, str]:
    fields = pairs(flat)
    return fields | ({"unknown": "some time"} if "unknown" in fields else {})


READERS: Mapping[str, Callable[[Any], Any]] = {
    "pending": _all_at_0,
    "dead": lambda flat: sorted(pairs(flat)),
    "completed": lambda flat: sorted(pairs(flat)),
    "active": lambda flat: dict(_times(flat)),
    "schedule": _times,
    "job": _row,
    "done": lambda flat: pairs(flat)["result"],
    "metrics": lambda flat: int(pairs(flat)["count"]),
    "bell": len,
    "clock": len,
}
"""What the value of a key of each kind is read as; the others are texts."""
