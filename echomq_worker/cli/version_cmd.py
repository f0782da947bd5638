"""`echomq version`: which versions of what."""

import platform

import click

from echomq_worker.cli.options import json_option
from echomq_worker.cli.output import write_json
from echomq_worker.cli.words import installed
from echomq_worker.config.settings import declarations
from echomq_worker.version import __version__


@click.command("version")
@json_option
def version_command(*, as_json: bool) -> None:
    """Say which versions of this package, Python, the client library and the wire these are."""
    versions = {
        "echomq": __version__,
        "python": platform.python_version(),
        "redis-py": installed("redis"),
        "wire": declarations()["wire_version"].default,
        "platform": f"{platform.system()} {platform.machine()}",
    }
    if as_json:
        write_json(versions)
    else:
        click.echo("  ".join(f"{name} {text}" for name, text in versions.items()))
