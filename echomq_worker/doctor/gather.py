"""Gathers what the checks of the environment look at."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from echomq_worker.config import Settings
from echomq_worker.doctor.facts import Client, Facts, Rights, Zones
from echomq_worker.errors import EchoMQError, ServerError
from echomq_worker.store import Server
from echomq_worker.store.rights import Needs, Role
from echomq_worker.store.server import location
from echomq_worker.zones import package_zones, system_zones


async def gather(
    server: Server,
    settings: Settings,
    queues: Sequence[str] = (),
    *,
    role: Role = Role.WORKER,
    warnings: tuple[str, ...] = (),
) -> Facts:
    """Ask the server and look around here. What the server refuses is told in `trouble`.

    Args:
        server: need not be open.
        settings: how a worker is set up.
        queues: those that a worker would touch; none stands for all.
        role: whose rights to ask about.
        warnings: what reading them has warned of.
    """
    here = location(server.options.url)
    facts = Facts(
        settings=settings,
        warnings=warnings,
        location=here,
        client=Client(library=_version_of("redis") or "unknown"),
        zones=Zones(system=system_zones(), package=package_zones()),
    )
    try:
        await server.open()
        found = await server.facts()
    except EchoMQError as error:
        return replace(facts, trouble=error)
    needs = Needs(
        role=role,
        queues=tuple(queues),
        server=found.name,
        version=found.version,
        database=settings.redis_url.db,
    )
    return await _with_rights(replace(facts, server=found), server, needs)


async def _with_rights(facts: Facts, server: Server, needs: Needs) -> Facts:
    try:
        missing = await server.missing_rights(needs)
    except ServerError as error:
        return replace(facts, trouble=error)
    return replace(facts, rights=Rights(needs=needs, missing=missing))


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
