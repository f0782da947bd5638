"""The root command, which loads a noun's module only when it is asked for."""

import gc
import importlib

import click

from echomq_worker.cli.words import near_misses
from echomq_worker.version import __version__

COMMANDS = {
    "run": ("echomq_worker.cli.run:run", "Run a worker."),
    "dev": ("echomq_worker.cli.dev:dev", "Run a worker with a server of its own, to develop with."),
    "demo": ("echomq_worker.cli.demo:demo", "Watch real jobs index a folder, and their account."),
    "job": ("echomq_worker.cli.job:job", "Enqueue jobs, look at one, let it run earlier or later."),
    "stats": ("echomq_worker.cli.stats:stats", "Show how the queues are doing."),
    "dead": ("echomq_worker.cli.dead:dead", "List, requeue and remove dead jobs."),
    "queue": ("echomq_worker.cli.queue:queue", "List, pause and resume queues."),
    "lane": ("echomq_worker.cli.lane:lane", "Look after lanes: tenants that are served in turn."),
    "schedule": ("echomq_worker.cli.schedule:schedule", "Look after what is made on schedule."),
    "doctor": ("echomq_worker.cli.doctor_cmd:doctor", "Find what is wrong, and repair queues."),
    "config": ("echomq_worker.cli.config_cmd:config", "Show and check settings."),
    "health": ("echomq_worker.cli.health_cmd:health_command", "Say whether the worker is well."),
    "version": ("echomq_worker.cli.version_cmd:version_command", "Say which versions these are."),
}
"""Every command: where it is (`module:attribute`), and its line in `echomq --help`."""


class LazyGroup(click.Group):
    """Lists and completes commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        # An import makes many objects and no garbage: looking for some takes a tenth of the start.
        gc.disable()
        try:
            return getattr(importlib.import_module(module), attribute)
        finally:
            gc.enable()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; name the nearest one if there is none."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(f"there is no command {args[0]!r}.{near_misses(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.command(
    "echomq",
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every setting can come from the environment: `echomq config env` lists them all.",
)
@click.version_option(__version__, prog_name="echomq", message="%(prog)s %(version)s")
def echomq() -> None:
    """Run workers for EchoMQ queues on Redis or Valkey, and look after the queues."""
