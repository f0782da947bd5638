"""Text that came from somewhere else, made safe to print."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_BUT_LINE_END = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def printable(text: str, *, keep_lines: bool = False) -> str:
    """Return `text` so that it cannot move the cursor, change colours or pass for other lines.

    Args:
        text: anything.
        keep_lines: leave line ends as they are; else the result is one line.
    """
    return (_CONTROL_BUT_LINE_END if keep_lines else _CONTROL).sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
