"""What unit tests may ask for: an environment without settings, logging that is put back."""

import logging
import os
from collections.abc import Callable, Iterator

import click
import pytest
import structlog

from echomq_worker.cli import group
from echomq_worker.cli.main import main
from tests.support.command_line import Run


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every setting out of the environment."""
    for name in os.environ:
        if name.startswith("ECHOMQ_") or name == "REDIS_URL":
            monkeypatch.delenv(name)


@pytest.fixture
def untouched_logging() -> Iterator[None]:
    """Put logging back as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def run_as(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a function as the only command there is."""

    def run(function: Callable[..., object], *arguments: str) -> int:
        command = function if isinstance(function, click.Command) else click.command("do")(function)
        monkeypatch.setattr(group, "CURRENT", command, raising=False)
        monkeypatch.setattr(group, "COMMANDS", {"do": (f"{group.__name__}:CURRENT", "Do it.")})
        return main(["do", *arguments])

    return run
