"""Running the command line inside a test."""

from collections.abc import Callable
from typing import Protocol


class Run(Protocol):
    """Runs a function as the only command there is, and returns the exit code."""

    def __call__(self, function: Callable[..., object], *arguments: str) -> int: ...
