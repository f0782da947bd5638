"""No file and no function grows beyond what one reads in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

from checks.files import sources

FILE_LINES = 300
FUNCTION_LINES = 40


def sizes(root: Path) -> list[str]:
    """Return the files over 300 lines and the functions over 40."""
    problems: list[str] = []
    for path, text in sources(root, ".py", "echomq_worker", "tests", "checks", "bench", "examples"):
        problems += [*_long_file(path, text), *_long_functions(path, text)]
    for path, text in sources(root, ".lua", "echomq_worker"):
        problems += _long_file(path, text)
    return problems


def _long_file(path: Path, text: str) -> Iterator[str]:
    if (lines := len(text.splitlines())) > FILE_LINES:
        yield f"{path}: {lines} lines, at most {FILE_LINES}: split it by ideas"


def _long_functions(path: Path, text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield (
                    f"{path}:{node.lineno}: {node.name} has {lines} lines, at most "
                    f"{FUNCTION_LINES}: give its parts names"
                )
