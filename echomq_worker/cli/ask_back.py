"""Asking the user back before something is done that cannot be undone."""

import sys

import click

from echomq_worker.cli.exit_codes import CommandError, ExitCode


def ask_back(question: str) -> None:
    """Ask on the terminal, and end the command unless the answer is yes.

    Ask while no event loop runs: that would keep Ctrl-C to itself.

    Raises:
        CommandError: if there is no terminal to ask on.
    """
    if not asks_on_terminal():
        msg = f"{question} There is no terminal to ask on"
        raise CommandError(
            msg, ExitCode.REFUSED, hint="say --yes to go on, --dry-run to look first"
        )
    click.confirm(question, abort=True, err=True)


def asks_on_terminal() -> bool:
    """Return whether there is somebody to answer a question."""
    return sys.stdin.isatty()
