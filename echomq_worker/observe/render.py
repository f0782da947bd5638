"""How a line looks to machines: JSON and logfmt."""

import json
import re
from collections.abc import Mapping

import msgspec

from echomq_worker.observe.arrange import Line

_encoder = msgspec.json.Encoder()
_PLAIN_VALUE = re.compile(r"[^\s\"=\\\x00-\x20\x7f-\x9f]+")
_LINE_ENDS = re.compile(r"[\x7f-\x9f\u2028\u2029]")  # those that JSON leaves as they are
_ENCODED_CONTROLS = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")  # the same as UTF-8
_PLAIN_KEY = re.compile(r"[^\s\"=\x00-\x20\x7f-\x9f]+")


def render_json(_logger: object, _method: str, line: Line) -> bytes:
    """Return the line as one JSON object."""
    try:
        encoded = _encoder.encode(line)
    except (ValueError, OverflowError):
        # A lone surrogate, which UTF-8 cannot carry: the slow encoder escapes it.
        text = json.dumps(line, default=str)
        plain = json.loads(text, parse_constant=lambda _: None)
        return json.dumps(plain, separators=(",", ":")).encode()
    if encoded.isascii() and b"\x7f" not in encoded:
        return encoded
    return _ENCODED_CONTROLS.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), encoded)


def render_logfmt(_logger: object, _method: str, line: Line) -> bytes:
    """Return the line as `key=value` pairs."""
    pairs = (f"{_key(key)}={_value(value)}" for key, value in line.items())
    return " ".join(pairs).encode("utf-8", "backslashreplace")


def as_word(value: object) -> str:
    """Return a value as one word, in quotes if it would not be one."""
    return _value(value)


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else re.sub(r"[^\w.-]", "_", key) or "_"


def _value(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list() | Mapping():
            return _value(json.dumps(value, separators=(",", ":"), default=str))
        case _:
            text = str(value)
            return text if _PLAIN_VALUE.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _LINE_ENDS.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
