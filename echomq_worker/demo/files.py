"""Which files there are to index, and what indexing one finds out."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a file once it has been read."""

    size: int
    """In bytes."""
    lines: int
    sha256: str


def find_files(root: Path, limit: int) -> list[Path]:
    """Return at most `limit` regular files under `root`, in order of their paths.

    Hidden folders, `__pycache__` and links are left out. Folders that may not be read are skipped.
    """
    return list(islice(_walk(root), limit))


def text_of(path: Path) -> str:
    """Return a path as plain text, as URLs write it: a name need not be UTF-8, a payload must."""
    return quote_from_bytes(os.fsencode(path))


def path_of(text: str) -> Path:
    """Return the path that `text_of` has written."""
    return Path(os.fsdecode(unquote_to_bytes(text)))


def read_facts(path: Path) -> FileFacts:
    """Read a file once, from start to end. Raises `OSError` if that is not possible."""
    size, lines, digest = 0, 0, hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            size += len(chunk)
            lines += chunk.count(b"\n")
            digest.update(chunk)
    return FileFacts(size, lines, digest.hexdigest())


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _left_out(name))
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _left_out(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"
