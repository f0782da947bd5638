"""What a user of the server must be allowed to do, and the ACL rule that allows just that.

The commands that run inside scripts are read from the scripts themselves; those that we send
ourselves are listed here. A test compares both with what a server sees.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from echomq_worker.protocol.keyspace import NODES_KEY, VERSION_KEY, Keyspace
from echomq_worker.protocol.scripts import script, script_names

_CALL = re.compile(r"\bredis\.p?call\(\s*(?:'(\w+)'|\"(\w+)\"|)")
_SHARED_KEYS = "{emq}:*"
_AFTER_KEY: dict[tuple[str, ...], str] = {
    (): "decr del exists get hgetall hkeys hlen hvals incr llen persist pttl rpop lpop scard "
    "smembers strlen ttl type unlink xlen zcard zpopmin",
    ("k",): "rename",
    ("AFTER", "0", "0"): "linsert",
    ("0",): "blpop expire hdel hexists hget hmget hscan incrby lindex lpos lpush pexpire "
    "rpush sadd set sismember srem sscan xdel zmscore zrandmember zrank zrem zscan"
    " zscore",
    ("0", "0"): "hincrby hset hsetnx lrange lrem lset ltrim xrange xrevrange xtrim zadd zcount "
    "zincrby zrange zrangebyscore zremrangebyscore zrevrange",
    ("*", "f", "v"): "xadd",
}
"""What follows the key in a call that is asked about. Some servers end themselves when asked about
a call with too few words, so every command has its own."""
_SAMPLES = {
    **{name: ("k", *rest) for rest, names in _AFTER_KEY.items() for name in names.split()},
    **dict.fromkeys(("ping", "info", "time"), ()),
    **dict.fromkeys(("scan", "select"), ("0",)),
    "eval": ("return 1", "0"),
    "evalsha": ("0" * 40, "0"),
    "publish": ("c", "x"),
    "client|id": (),
    "client|setname": ("x",),
    "client|unblock": ("0",),
    "client|setinfo": ("LIB-NAME", "x"),
    "config|get": ("save",),
}
_SET_INFO_SINCE = (7, 2)
"""The first version that knows CLIENT SETINFO; 7.0 refuses a rule that names it."""


class Role(StrEnum):
    """Who connects."""

    PRODUCER = "producer"
    """Enqueues jobs, looks at them, waits for results, moves and removes them; the same with
    schedulers."""
    WORKER = "worker"
    """Runs jobs, and enqueues others."""
    OPERATOR = "operator"
    """Does everything that the command line can, `echomq doctor` included."""


_CONNECTS = ("get", "set", "ping", "eval", "evalsha", "client|setname", "client|setinfo")
"""What is said on every connection: the fence, and any script by its hash or its source."""
_OWN: dict[Role, tuple[str, ...]] = {
    Role.PRODUCER: ("hmget",),
    Role.WORKER: ("blpop", "client|id", "client|unblock", "info", "time"),
    Role.OPERATOR: ("config|get", "exists", "hmget", "scan", "xrange", "zmscore", "zrange"),
}
_SCRIPTS: dict[Role, tuple[str, ...]] = {
    Role.PRODUCER: (
        *("enqueue", "enqueue_unique", "schedule", "extension", "inspect", "remove"),
        *("reschedule", "promote_job", "reprioritize", "put_order"),
        *("put_scheduler", "read_schedulers", "remove_scheduler", "trigger_scheduler"),
        *("pause_scheduler", "resume_scheduler"),
        *("repeat_register", "repeat_cancel", "repeat_list"),
        *("lane_pause", "lane_resume", "lane_limit", "lane_weight", "lane_max", "lane_first"),
        "lane_rate",
        *("put_limit", "strike", "lift_strike", "read_gates", "expected_start"),
        *("update_data", "update_progress", "add_log", "read_job", "unique_holder", "release_key"),
        *("lane_reassign", "lane_drain", "lane_reap", "lane_depths", "lane_list"),
    ),
    Role.WORKER: (
        *("beat", "claim", "claim_lane", "settle", "extend", "leave", "lease_node", "free_node"),
        *("due_schedulers", "fire", "retime_scheduler", "aside_scheduler", "fire_repeats"),
        *("read_workers", "recount_slots"),
    ),
}
_BELOW: dict[Role, tuple[Role, ...]] = {
    Role.PRODUCER: (Role.PRODUCER,),
    Role.WORKER: (Role.PRODUCER, Role.WORKER),
    Role.OPERATOR: (Role.PRODUCER, Role.WORKER, Role.OPERATOR),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a user needs.

    Args:
        role: who it is.
        queues: the queues that it may touch; none stands for all of them.
        server: `redis` or `valkey`.
        version: the server's, such as `7.0.15`; None for one that knows everything.
        database: the number of the database.
    """

    role: Role = Role.WORKER
    queues: tuple[str, ...] = ()
    server: str = "valkey"
    version: str | None = None
    database: int = 0

    def commands(self) -> list[str]:
        """Return the names of the commands, `command|subcommand` where only that one is needed."""
        found = {*_CONNECTS, *(("select",) if self.database else ())}
        for role in _BELOW[self.role]:
            found.update(_OWN[role])
            found.update(commands_inside(_SCRIPTS.get(role, ()) or tuple(script_names())))
        if self.server == "redis" and _numbers(self.version) < _SET_INFO_SINCE:
            found.discard("client|setinfo")
        return sorted(found)

    def patterns(self) -> list[str]:
        """Return the patterns of the keys."""
        return [f"emq:{{{queue}}}:*" for queue in self.queues or ("*",)] + [_SHARED_KEYS]

    def acl_line(self, user: str = "echomq", password: str = "PASSWORD") -> str:  # noqa: S107 - a place for one
        """Return the command that makes a user who may do this and nothing else."""
        keys = " ".join(f"~{pattern} &{pattern}" for pattern in self.patterns())
        commands = " ".join(f"+{command}" for command in self.commands())
        return f"ACL SETUSER {user} reset on >{password} {keys} {commands}"


@dataclass(frozen=True, slots=True)
class Trial:
    """A call of which the server is asked whether this user may make it."""

    words: tuple[str, ...]
    command: str
    key: str | None = None
    """The key that it touches; None if it touches none."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What a user lacks."""

    commands: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.commands or self.keys)

    def __str__(self) -> str:
        commands = ", ".join(command.replace("|", " ").upper() for command in self.commands)
        keys = ", ".join(self.keys)
        parts = (f"commands {commands}" if commands else "", f"keys {keys}" if keys else "")
        return " and ".join(filter(None, parts))


def trials(needs: Needs, queue: str) -> list[Trial]:
    """Return the calls to ask about: each command alone and on a key, and reads and writes of keys.

    Args:
        needs: what the user is for.
        queue: the queue whose keys are in question.
    """
    keys = Keyspace(queue)
    asked = [_trial(command, keys.pending) for command in needs.commands()]
    others = [*_keys_of(keys), *(() if needs.role is Role.PRODUCER else (NODES_KEY,))]
    return asked + [_trial(command, key) for key in others for command in ("exists", "del")]


def missing(asked: Sequence[Trial], refused: Iterable[int]) -> Missing:
    """Return what is lacking, by the places (from 1; 0: the version) of the refused calls.

    A command that is allowed on one key of a queue but not on another lacks the key. If nothing is
    allowed on a key, the commands are not to blame either.
    """
    places = set(refused)
    found = {asked[place - 1] for place in places if place}
    dark = {trial.key for trial in asked if trial.key} - {
        trial.key for trial in asked if trial not in found
    }
    commands = {trial.command for trial in found if trial.key not in dark}
    light = {trial.command for trial in asked if trial not in found}
    lacking = {command for command in commands if command not in light}
    keys = {trial.key for trial in found if trial.key and trial.command not in lacking}
    if 0 in places and not lacking & {"get", "set"}:
        keys.add(VERSION_KEY)
    return Missing(tuple(sorted(lacking)), tuple(sorted(keys)))


def trial_operands(asked: Iterable[Trial]) -> list[str | int]:
    """Return the calls as the script takes them."""
    return [word for trial in asked for word in (len(trial.words), *trial.words)]


@cache
def commands_inside(names: Sequence[str]) -> frozenset[str]:
    """Return the commands that scripts call, in lower case.

    Raises:
        ValueError: if a script calls a command whose name is not written there.
    """
    return frozenset(command for name in names for command in _called(name))


def _called(name: str) -> Iterator[str]:
    for found in _CALL.finditer(script(name).source):
        command = found[1] or found[2]
        if not command:
            msg = f"{name}.lua calls a command by a variable: its rights cannot be told"
            raise ValueError(msg)
        yield command.lower()


def _trial(command: str, key: str) -> Trial:
    words = _SAMPLES.get(command)
    if words is None:
        msg = f"{command} has no sample call: add one to _AFTER_KEY in {__name__}"
        raise ValueError(msg)
    touches = "k" in words
    # A channel is named as the keys are, and is none.
    with_key = tuple(key if word in {"k", "c"} else word for word in words)
    return Trial((*command.split("|"), *with_key), command, key if touches else None)


def _keys_of(keys: Keyspace) -> list[str]:
    places = (keys.active, keys.schedule, keys.dead, keys.meta, keys.bell, keys.clock, keys.log)
    clocks = (keys.schedulers, keys.scheduler("x"), keys.repeat, keys.repeat_record("x"))
    return [*places, *clocks, f"{keys.root}job:x", f"{keys.root}done:x", f"{keys.root}call:x"]


def _numbers(version: str | None) -> tuple[int, ...]:
    if version is None:
        return (99,)
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
