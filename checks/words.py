"""What must not stand anywhere in the project."""

import re
from pathlib import Path

from checks.files import project_files

FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.-])/(?:work|root|tmp/plan)/"),
    "the host of a package registry": re.compile(
        r"\b(?:pypi|files\.pythonhosted|(?:deb|security)\.debian|registry\.npmjs)\.(?:org|com)\b"
    ),
    "an unfinished thought": re.compile(r"\b(?:T[O]DO|FIX[M]E|XX[X])\b"),
}


def words(root: Path) -> list[str]:
    """Return each line of the project that has one of the forbidden words."""
    problems: list[str] = []
    for path in project_files(root):
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            problems += [
                f"{path}:{number}: {what}: {found[0]}"
                for what, pattern in FORBIDDEN.items()
                if (found := pattern.search(line))
            ]
    return problems
