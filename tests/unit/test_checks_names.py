"""The frozen public names notice what users would."""

import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from checks.names import differences, public_names
from tests.unit.test_checks_text import put

MODULE = '''
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TypedDict, Unpack, overload

__all__ = ["Colour", "Failure", "LIMIT", "Job", "Named", "run"]

LIMIT = 3
Named = Callable[[str], None]


class Colour(Enum):
    RED = "red"
    ROUGE = "red"


class Options(TypedDict, total=False):
    tries: int
    names: Sequence[str]


class Failure(ValueError):
    """Went wrong."""


class Job:
    def __init__(self, name: str, *, tries: int = 3) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @classmethod
    def of(cls, text: str) -> "Job":
        return cls(text)

    async def wait(self, seconds: float | None = None) -> Sequence[str]:
        return []

    def send(self, **options: Unpack[Options]) -> None:
        pass

    def _inner(self) -> None:
        pass


@overload
def run(job: Job) -> str: ...
@overload
def run(job: int) -> int: ...
def run(job: Job | int) -> str | int:
    return 1


def hidden() -> None:
    pass
'''
NUMBERS = count()


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module name that no other test has imported.

    No bytecode of it is kept: a second text of the same length, written within
    the same second, would be taken for the first.
    """
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    name = f"a_public_module_{next(NUMBERS)}"
    yield name
    sys.modules.pop(name, None)


def described(folder: Path, name: str, text: str) -> list[str]:
    put(folder, f"{name}.py", text)
    sys.modules.pop(name, None)
    return [line for line in public_names([name]) if line and line[0] not in "#["]


def test_names_signatures_bases_members_and_values_are_written_down(tmp_path: Path, named: str):
    assert described(tmp_path, named, MODULE) == [
        "class Colour(Enum)",
        "    RED = 'red'",
        "    ROUGE = 'red'",
        "class Failure(ValueError)",
        "class Job",
        "    __init__(name: str, *, tries: int = 3) -> None",
        "    name -> str",
        "    of(text: str) -> 'Job'",
        "    send(self, **options: {names: Sequence[str], tries: int}) -> None",
        "    async wait(self, seconds: float | None = None) -> Sequence[str]",
        "LIMIT: int",
        "Named = Callable[[str], None]",
        "run(job: Job) -> str  # overload",
        "run(job: int) -> int  # overload",
        "run(job: Job | int) -> str | int",
    ]


def test_without_a_list_what_the_module_defines_is_public(tmp_path: Path, named: str):
    text = "from pathlib import Path\nclass Own: ...\ndef made(): ...\ndef _mine(): ...\n"
    assert described(tmp_path, named, text) == ["class Own", "made()"]


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("tries: int = 3", "tries: int = 4", "+    __init__(name: str, *, tries: int = 4)"),
        ('"Failure", ', "", "-class Failure(ValueError)"),
        ("def name(self) -> str", "def name(self) -> bytes", "+    name -> bytes"),
        ("async def wait", "async def _wait", "-    async wait(self, seconds"),
        ("async def wait", "def wait", "+    wait(self, seconds"),
        ("    names: Sequence", "    labels: Sequence", "+    send(self, **options: {labels"),
        ('RED = "red"', 'RED = "rot"', "+    RED = 'rot'"),
    ],
)
def test_every_change_that_a_user_would_notice_is_a_finding(
    tmp_path: Path, named: str, old: str, new: str, change: str
):
    frozen = tmp_path / "frozen.txt"
    frozen.write_text("\n".join(described(tmp_path, named, MODULE)) + "\n")
    assert differences(frozen, described(tmp_path, named, MODULE)) == []

    changed = described(tmp_path, named, MODULE.replace(old, new, 1))
    assert change in "\n".join(differences(frozen, changed))


def test_without_a_frozen_list_there_is_a_hint(tmp_path: Path):
    (problem,) = differences(tmp_path / "public_names.txt", [])
    assert "run `python -m checks --write names`" in problem
