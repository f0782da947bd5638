"""Gathers what the checks of the environment look at."""

import zoneinfo
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from echomq_worker.config import Settings
from echomq_worker.doctor.facts import Client, Facts, Rights, Zones
from echomq_worker.errors import EchoMQError, ServerError
from echomq_worker.store import Server
from echomq_worker.store.rights import Needs, Role
from echomq_worker.store.server import location

_ZONE_FILES = ("tzdata.zi", "+VERSION")
_LONGEST_LINE = 100


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


def system_zones() -> str | None:
    """Return the version of the time zone data that Python uses first; None if there is none."""
    for folder in map(Path, zoneinfo.TZPATH):
        if not (folder / "UTC").exists():
            continue
        for name in _ZONE_FILES:
            try:
                with (folder / name).open(encoding="ascii", errors="replace") as file:
                    line = file.readline(_LONGEST_LINE)
            except OSError:
                continue
            return line.removeprefix("# version ").strip()
        return "unknown"
    return None


def package_zones() -> str | None:
    """Return the version of the data in the tzdata package, as the system's are written."""
    try:
        import tzdata  # noqa: PLC0415 - only where it is installed
    except ImportError:
        return None
    return str(tzdata.IANA_VERSION)


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
