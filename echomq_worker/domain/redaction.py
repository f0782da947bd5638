"""Keep secrets out of whatever people and log stores get to read.

There is one place that hides: logs, errors, `repr` and the command line all come here.
"""

import re
from collections.abc import Iterable, Mapping
from typing import cast
from urllib.parse import quote

HIDDEN = "***"
"""What stands where a secret was."""

SECRET_KEYS = ("password", "passwd", "secret", "token", "authorization", "api_key", "cookie")
"""Parts of names whose values are hidden, unless somebody chooses others."""

_SHORTEST_SECRET = 6
"""Shorter texts are not searched for: they would be found inside ordinary words."""
_DEEPEST = 6
_KNOWN_KEYS_LIMIT = 4096

# People write passwords into the URLs of servers unescaped, with any character in them, so here
# the user part ends at the last @ of the word. Other URLs are taken as the standard says.
_SERVERS = r"(?:redis|valkey)s?|postgres(?:ql)?|mysql|mongodb|amqps?"
_SERVER_URL = re.compile(rf"((?:{_SERVERS})(?:\+[a-z0-9]+)?://|unix://)(\S*)@", re.IGNORECASE)
_URL = re.compile(r"(?<![\w+.-])([a-z][\w+.-]{0,40}://)([^\s/?#\"'<>]*)@", re.IGNORECASE)
_USER = re.compile(r"[\w.%-]*", re.ASCII)
_WORDS = (
    r"[\w.-]{0,40}(?:password|passwd|secret|token|api_?key|authorization|signature)[\w.-]{0,40}"
)
_ASSIGNED = re.compile(rf"((?<![\w.-]){_WORDS}=)[^&;\s\"'#<>]*[^&;\s\"'#<>,)\]}}]", re.IGNORECASE)
# A text in a text has its quotes escaped, and an escaped quote does not end what it stands in.
_QUOTED = re.compile(
    rf"((?<![\w.-]){_WORDS}\\{{0,3}}[\"']?\s{{0,4}}[=:]\s{{0,4}}b?(\\{{0,3}}[\"']))"
    r"(?:(?!\2)(?:\\.|[^\\\n]))*\\?(?:\2|(?=\n)|\Z)",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"(\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:basic|token|apikey|negotiate)\s{1,4}"
    r"|\bbearer\s{1,4})[\w.~+/=:-]{6,}",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Hide the passwords in a text.

    Those of URLs, values of secret names (`password=...`, `"token": "..."`), and what an
    `Authorization` header carries.
    """
    if "://" in text and "@" in text:
        text = _URL.sub(_without_password, _SERVER_URL.sub(_without_password, text))
    if "=" in text or ":" in text:
        if '"' in text or "'" in text:
            text = _QUOTED.sub(rf"\1{HIDDEN}\2", text)
        text = _ASSIGNED.sub(rf"\1{HIDDEN}", text)
    if " " in text:
        text = _HEADER.sub(rf"\1{HIDDEN}", text)
    return text


def _without_password(match: re.Match[str]) -> str:
    user, colon, _ = match[2].partition(":")
    shown = f"{user}:" if colon and _USER.fullmatch(user) else ""
    return f"{match[1]}{shown}{HIDDEN}@"


class Redactor:
    """Hides by the name of a value, by known secrets, and by `redact`.

    Args:
        keys: parts of names, in any case; a value whose name contains one is hidden.
        secrets: texts that must not appear, such as the password in use; those under six
            characters are not searched for.
    """

    def __init__(self, keys: Iterable[str] = SECRET_KEYS, secrets: Iterable[str] = ()) -> None:
        self._keys = tuple(key.lower() for key in keys if key)
        self._secrets: tuple[str, ...] = ()
        self._known: dict[str, bool] = {}
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Hide these texts as well from now on, such as a password that code has decided."""
        texts = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
        forms = {*self._secrets, *texts, *(quote(secret, safe="") for secret in texts)}
        self._secrets = tuple(sorted(forms, key=len, reverse=True))

    def text(self, text: str) -> str:
        """Return `text` without secrets."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        return redact(text)

    def hides(self, key: str) -> bool:
        """Return whether values of this name are secret."""
        known = self._known.get(key)
        if known is None:
            lowered = key.lower()
            known = any(part in lowered for part in self._keys)
            if len(self._known) >= _KNOWN_KEYS_LIMIT:
                self._known.clear()
            self._known[key] = known
        return known

    def value(self, value: object, depth: int = 0) -> object:
        """Return `value` as plain data (text, numbers, lists, mappings) without secrets."""
        match value:
            case None | bool() | int() | float():
                return value
            case str():
                return self.text(value)
            case bytes():
                return self.text(value.decode("utf-8", "backslashreplace"))
            case _:
                return self._inside(value, depth) if depth < _DEEPEST else self._described(value)

    def named(self, key: str, value: object, depth: int = 0) -> object:
        """Return `value` as plain data, hidden if its name is one of the secret ones."""
        if value is not None and not isinstance(value, bool) and self.hides(key):
            return HIDDEN
        return self.value(value, depth)

    def _inside(self, value: object, depth: int) -> object:
        if isinstance(value, Mapping):
            items = cast("Mapping[object, object]", value).items()
            return {str(key): self.named(str(key), item, depth + 1) for key, item in items}
        if isinstance(value, list | tuple | set | frozenset):
            members = cast("Iterable[object]", value)
            return [self.value(member, depth + 1) for member in members]
        return self._described(value)

    def _described(self, value: object) -> str:
        try:
            return self.text(str(value))
        except Exception as error:  # noqa: BLE001 - a log line must not fail because of what it shows
            return f"<{type(value).__name__}: str() raised {type(error).__name__}>"
