"""`echomq config`: what the settings are, where they come from, and what is wrong with them."""

import click

from echomq_worker.cli.exit_codes import ExitCode
from echomq_worker.cli.options import json_option, with_session
from echomq_worker.cli.output import Column, say, write_json, write_rows
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import count_of
from echomq_worker.config import Loaded
from echomq_worker.config.docs import env_template
from echomq_worker.config.settings import declarations
from echomq_worker.domain.duration import format_duration
from echomq_worker.zones import zone_data_version

_EXIT_RESERVE_MS = 2_000
"""What an orchestrator should grant beyond the shutdown time-out."""


@click.group()
def config() -> None:
    """Show and check settings."""


@config.command()
@click.option("--sources", is_flag=True, help="Say where each value comes from.")
@click.option("--all", "show_all", is_flag=True, help="Show settings at their defaults as well.")
@json_option
@with_session
def show(session: Session, *, sources: bool, show_all: bool, as_json: bool) -> None:
    """Show the settings in force. Secrets are hidden."""
    loaded = session.loaded
    rows = _rows(loaded)
    chosen = [row for row in rows if show_all or row["given"]]
    columns = [Column("SETTING", "name"), Column("VALUE", "value"), Column("SOURCE", "source")]
    write_rows(chosen, columns if sources else columns[:2], as_json=as_json)
    if as_json:
        return
    if hidden := len(rows) - len(chosen):
        say(f"... {hidden} {'more ' if chosen else ''}at their defaults (--all)")
    _notes(loaded)


@config.command()
@click.option("--strict", is_flag=True, help="Take an unknown ECHOMQ_ variable for an error.")
@json_option
@with_session
def check(session: Session, *, strict: bool, as_json: bool) -> int:
    """Check the settings without using them. Exit 0 if they can be used, else 78."""
    errors, warnings = session.problems(strict=strict)
    zone_data = zone_data_version()
    if as_json:
        write_json({"errors": errors, "warnings": warnings, "tz_data": zone_data})
    else:
        for kind, texts in (("error", errors), ("warning", warnings)):
            for text in texts:
                click.echo(f"{kind}: {text}")
        click.echo(_verdict(len(errors), len(warnings)))
        click.echo(f"tz data {zone_data or 'none: there is no zone but UTC'}")
    return ExitCode.CONFIG if errors else ExitCode.OK


@config.command()
def env() -> None:
    """Print a commented file of every setting, for --env-file."""
    click.echo(env_template(), nl=False)


def _rows(loaded: Loaded) -> list[dict[str, object]]:
    return [
        {
            "name": declaration.variable,
            "value": declaration.show(getattr(loaded.settings, attribute)) or None,
            "source": str(loaded.sources[attribute]),
            "given": loaded.given(attribute),
            "secret": declaration.secret,
        }
        for attribute, declaration in declarations().items()
    ]


def _notes(loaded: Loaded) -> None:
    settings = loaded.settings
    derived = [
        f"{declaration.variable}={declaration.show(getattr(settings, attribute))}"
        for attribute, declaration in declarations().items()
        if declaration.derived and attribute != "worker_name" and not loaded.given(attribute)
    ]
    if derived:
        say(f"derived: {', '.join(derived)}")
    if settings.node_id is None:
        say("node id: a free one is leased when a worker starts (ECHOMQ_NODE_ID)")
    enough = format_duration(settings.shutdown_timeout_ms + _EXIT_RESERVE_MS)
    say(f"note: give the orchestrator at least {enough} to stop this process")


def _verdict(errors: int, warnings: int) -> str:
    if errors:
        return f"{count_of(errors, 'error')}, {count_of(warnings, 'warning')}"
    return "the settings can be used" + (f", {count_of(warnings, 'warning')}" if warnings else "")
