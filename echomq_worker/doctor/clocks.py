"""Whether clocks and time zones are as expected."""

from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.say import ok, warn
from echomq_worker.domain.finding import Finding
from echomq_worker.zones import package_is_newer

TOLERATED_MS = 1_000


def clock(facts: Facts) -> list[Finding]:
    """This machine's clock and the server's show the same time."""
    name, server = "clock", facts.server
    if server is None:
        return []
    offset = server.clock_offset_ms
    way = "ahead of" if offset >= 0 else "behind"
    text = f"the server's clock is {abs(offset)} ms {way} ours"
    if abs(offset) > TOLERATED_MS + server.round_trip_ms:
        hint = "keep both by NTP: leases go by the server's clock, ids and delays by ours"
        return [warn(name, text, hint)]
    return [ok(name, text)]


def zones(facts: Facts) -> list[Finding]:
    """Python uses the newest time zone data that is installed."""
    name, system, package = "time-zones", facts.zones.system, facts.zones.package
    if system is None:
        if package is None:
            return [warn(name, "there is no time zone data but UTC", "pip install tzdata")]
        return [ok(name, f"{package}, of the tzdata package")]
    if not package_is_newer(system, package):
        if system == "unknown":
            return [warn(name, "the system's time zone data does not tell its version")]
        return [ok(name, f"{system}, of the system")]
    older = "of unknown version" if system == "unknown" else f"the older {system}"
    text = f"schedules use {package}, of the tzdata package; Python the system's, {older}"
    hint = "update the system's tzdata, or set PYTHONTZPATH= to use the package's"
    return [warn(name, text, hint)]
