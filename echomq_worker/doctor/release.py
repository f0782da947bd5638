"""Which server it is, and which flaws its version is known for."""

import re
from collections.abc import Mapping

from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.say import fail, ok, warn
from echomq_worker.domain.finding import Finding

Version = tuple[int, ...]

OLDEST_REDIS: Version = (6, 2)
_LUA_2025 = "CVE-2025-49844, CVE-2025-46817, CVE-2025-46818, CVE-2025-46819"
_OLDER = f"{_LUA_2025}, CVE-2024-46981, CVE-2024-31449, CVE-2022-24834"
_LATER = "CVE-2026-23479, CVE-2026-25243, CVE-2026-23631"
FIXED: Mapping[str, Mapping[Version, tuple[Version, str]]] = {
    "redis": {
        (6, 2): ((6, 2, 20), _OLDER),
        (7, 0): ((7, 2, 11), _OLDER),
        (7, 2): ((7, 2, 11), _OLDER),
        (7, 4): ((7, 4, 6), _LUA_2025),
        (8, 0): ((8, 0, 4), _LUA_2025),
        (8, 2): ((8, 2, 2), _LUA_2025),
    },
    "valkey": {
        (7, 2): ((7, 2, 11), _OLDER),
        (8, 0): ((8, 0, 6), _LUA_2025),
        (8, 1): ((8, 1, 4), _LUA_2025),
        (9, 0): ((9, 0, 4), _LATER),
    },
}
"""By line: the first version without flaws by which a script breaks out, and which flaws."""


def version(facts: Facts) -> list[Finding]:
    """The server is Redis 6.2 or later, or any Valkey."""
    name, server = "version", facts.server
    if server is None:
        return []
    text = f"{server.name} {server.version}"
    numbers = numbers_of(server.version)
    if not numbers:
        return [warn(name, f"{text}: the version cannot be read", "use Redis 6.2+ or Valkey")]
    if server.name == "redis" and numbers < OLDEST_REDIS:
        return [fail(name, f"{text} is too old", "use Redis 6.2 or later, or Valkey")]
    return [ok(name, text)]


def known_flaws(facts: Facts) -> list[Finding]:
    """The server's version is not known for flaws by which scripts break out of their bounds."""
    name, server = "known-flaws", facts.server
    if server is None or not (numbers := numbers_of(server.version)):
        return []
    lines = FIXED[server.name]
    known = lines.get(numbers[:2]) or (min(lines.values()) if numbers < min(lines) else None)
    if known is None or numbers >= known[0]:
        return [ok(name, f"none that we know of in {server.name} {server.version}")]
    fixed, flaws = ".".join(map(str, known[0])), known[1]
    text = f"{server.name} {server.version} is older than {fixed}, which fixes {flaws}"
    hint = (
        "upgrade; or make sure of it with whoever packaged the server: a distribution may carry "
        "the fixes under the old number"
    )
    return [warn(name, text, hint)]


def numbers_of(text: str) -> Version:
    """Return the numbers of a version; none if it is not one."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")[:3]) if found else ()
