"""A real server whose clock is the simulation's: the scripts run as they are, on virtual time.

Each script gets a prelude that answers TIME, writes ids of streams and keeps expiries by the
virtual clock, which comes as one more argument.
"""

import re
import socket
from collections.abc import Callable, Sequence
from typing import Any, cast

import hiredis
from redis.exceptions import NoScriptError, OutOfMemoryError, ResponseError

from echomq_worker.protocol.scripts import script, script_names

EXPIRIES = "virtual:expiries"
PRELUDE = """
local virtual_ms = table.remove(ARGV)
local real, expiries = redis, 'virtual:expiries'
local over = real.call('ZRANGEBYSCORE', expiries, '-inf', virtual_ms)
for _, key in ipairs(over) do real.call('DEL', key) end
real.call('ZREMRANGEBYSCORE', expiries, '-inf', virtual_ms)
local function expire(key, ms) real.call('ZADD', expiries, virtual_ms + ms, key) end
local special = {
  TIME = function()
    return { string.sub(virtual_ms, 1, -4), string.sub(virtual_ms, -3) .. '300' }
  end,
  SET = function(run, key, value, px, ms)
    if px ~= 'PX' then return run('SET', key, value) end
    local done = run('SET', key, value)
    if not done.err then expire(key, ms) end
    return done
  end,
  PEXPIRE = function(run, key, ms)
    if real.call('EXISTS', key) == 0 then return 0 end
    expire(key, ms)
    return 1
  end,
  DEL = function(run, ...)
    real.call('ZREM', expiries, ...)
    return run('DEL', ...)
  end,
  XADD = function(run, key, a, b, c, _, ...)
    return run('XADD', key, a, b, c, virtual_ms .. '-*', ...)
  end,
}
local function through(run)
  return function(name, ...)
    local own = special[name]
    if own then return own(run, ...) end
    return run(name, ...)
  end
end
local redis = {
  call = through(real.call), pcall = through(real.pcall), error_reply = real.error_reply,
  status_reply = real.status_reply, sha1hex = real.sha1hex, log = real.log,
}
"""
Change = Callable[[str, str], str]
"""Given name and source of a script, what the server is to run instead."""


class VirtualServer:
    """Runs commands at once, at a virtual time."""

    def __init__(self, path: str, change: Change = lambda _name, source: source) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._reader = hiredis.Reader(replyError=_error)
        self._real_sha: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self._known: set[str] = set()
        for name in script_names():
            found = script(name)
            self.names[found.sha] = name
            source = PRELUDE + change(name, found.source)
            self._real_sha[found.sha] = self.ask("SCRIPT", "LOAD", source).decode()
        self._by_source = {script(name).source: script(name).sha for name in script_names()}

    def close(self) -> None:
        self._socket.close()

    def reset(self) -> None:
        """Forget everything."""
        self.ask("FLUSHALL")
        self._known = set(self._real_sha)

    def forget_scripts(self) -> None:
        """As SCRIPT FLUSH does."""
        self._known.clear()

    def ask(self, *parts: Any) -> Any:
        """Run a command as it is; an error is raised."""
        self._socket.sendall(pack(parts))
        while (reply := self._reader.gets()) is False:
            self._reader.feed(self._socket.recv(65_536))
        if isinstance(reply, Exception):
            raise reply
        return reply

    def run(self, now_ms: int, parts: Sequence[bytes]) -> Any:
        """Run a script command of a client at a virtual time."""
        sha = self.sha_of(parts)
        if parts[0] == b"EVAL":
            self._known.add(sha)
        elif sha not in self._known:
            msg = "No matching script. Please use EVAL."
            raise NoScriptError(msg)
        return self.ask("EVALSHA", self._real_sha[sha], *parts[2:], str(now_ms))

    def sha_of(self, parts: Sequence[bytes]) -> str:
        text = parts[1].decode()
        return self._by_source[text] if parts[0] == b"EVAL" else text


pack = cast("Callable[[tuple[Any, ...]], bytes]", hiredis.pack_command)


def _error(text: str) -> ResponseError:
    code = re.match(r"([A-Z]+) ", text)
    kind = {"OOM": OutOfMemoryError}.get(code[1] if code else "", ResponseError)
    error = kind(text)
    error.status_code = code[1] if code else "ERR"
    return error
