"""`echomq doctor`: what is wrong with the server, this machine and the queues."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import click

from echomq_worker.backend import server_options
from echomq_worker.cli.doctor_report import Report, Stage
from echomq_worker.cli.exit_codes import ExitCode, exit_code
from echomq_worker.cli.find import find_queues
from echomq_worker.cli.options import json_option, with_session
from echomq_worker.cli.output import say
from echomq_worker.cli.session import Session
from echomq_worker.doctor import Finding, gather, judge
from echomq_worker.doctor.queues import look_at, mend
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.store import Server
from echomq_worker.store.rights import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    queues: tuple[str, ...]
    all_queues: bool
    repair: bool
    yes: bool
    as_json: bool


@click.command("doctor")
@click.option("-q", "--queue", "queues", multiple=True, metavar="NAME", help="Look at this queue.")
@click.option("--all-queues", is_flag=True, help="Look at every queue of the server.")
@click.option("--repair", is_flag=True, help="Say what could be repaired; change nothing.")
@click.option("--yes", is_flag=True, help="With --repair: do it, and look again.")
@click.option(
    "--acl",
    type=click.Choice([role.value for role in Role]),
    metavar="ROLE",
    help="Only print the ACL rule of a worker, a producer or an operator.",
)
@json_option
@with_session
def doctor(session: Session, *, acl: str | None, as_json: bool, **given: object) -> int:
    """Check the server, this machine and the state of queues (those of the settings).

    Exit 0 if nothing has failed (warnings may be there), 4 if something has, 69 if the server
    cannot be reached, 77 if it refuses us.
    """
    wish = _Wish(as_json=as_json, **given)  # pyright: ignore[reportArgumentType] - as declared above
    for name in wish.queues:
        check_queue_name(name)
    if wish.yes and not wish.repair:
        msg = "--yes goes with --repair"
        raise click.UsageError(msg)
    return asyncio.run(_Visit(session, wish).acl(Role(acl)) if acl else _Visit(session, wish).go())


@dataclass(frozen=True, slots=True)
class _Visit:
    session: Session
    wish: _Wish

    async def go(self) -> int:
        wish, settings = self.wish, self.session.settings
        report = Report(
            self.session.redactor, as_json=wish.as_json, would_repair=wish.repair and not wish.yes
        )
        server = Server(server_options(settings))
        try:
            warnings = self.session.loaded.warnings
            facts = await gather(server, settings, self._queues(), warnings=warnings)
            report.tell(judge(facts))
            if facts.trouble is not None:
                self._end(report)
                return exit_code(facts.trouble)
            found = await self._states(server, report)
        finally:
            await server.aclose()
        self._end(report, repairable=sum(each.repair is not None for each in found))
        return ExitCode.PARTLY if report.failed else ExitCode.OK

    async def acl(self, role: Role) -> int:
        settings = self.session.settings
        server = Server(server_options(settings))
        try:
            facts = await gather(server, settings, self._queues(), role=role)
        finally:
            await server.aclose()
        if facts.rights is None:
            raise facts.trouble or AssertionError
        click.echo(facts.rights.needs.acl_line())
        return ExitCode.OK

    def _queues(self) -> tuple[str, ...]:
        """The queues that a worker would touch; none stands for all."""
        if self.wish.all_queues:
            return ()
        return self.wish.queues or tuple(each.name for each in self.session.settings.queues)

    async def _states(self, server: Server, report: Report) -> list[Finding]:
        configured = self.session.settings.queues
        names: Sequence[str] = self.wish.queues or tuple(each.name for each in configured)
        if self.wish.all_queues or self.wish.queues:
            named = () if self.wish.all_queues else names
            names = await find_queues(server, named, configured)
        last: list[Finding] = []
        for name in names:
            found = await look_at(server, name)
            report.tell(found)
            if self.wish.yes and any(each.repair for each in found):
                done, after = await mend(server, name)
                report.tell(done, Stage.REPAIR)
                report.forget(found)
                report.tell(after, Stage.RECHECK)
                found = after
            last += found
        return last

    def _end(self, report: Report, repairable: int = 0) -> None:
        if self.wish.as_json:
            return
        click.echo(report.verdict())
        if repairable and not self.wish.yes:
            more = "`--repair --yes` repairs" if self.wish.repair else "`--repair` says how"
            say(f"{repairable} can be repaired, nothing was changed: {more}")
