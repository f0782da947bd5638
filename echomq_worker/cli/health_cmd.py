"""`echomq health`: the probe, for whoever comes by way of the command line."""

import click

from echomq_worker import health


@click.command(
    "health",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def health_command(arguments: tuple[str, ...]) -> int:
    """Say whether the worker on this machine is well."""
    return health.main(arguments)
