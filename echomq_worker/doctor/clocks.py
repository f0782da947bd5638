"""Whether clocks and time zones are as expected."""

from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.say import ok, warn
from echomq_worker.domain.finding import Finding

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
            return [warn(name, "there is no time zone data", "pip install tzdata")]
        return [ok(name, f"{package}, of the tzdata package")]
    if system == "unknown":
        return [warn(name, "the system's time zone data does not tell its version")]
    if package is not None and system < package:
        text = f"Python uses the system's {system}, the tzdata package has {package}"
        hint = "update the system's tzdata, or set PYTHONTZPATH= to use the package's"
        return [warn(name, text, hint)]
    return [ok(name, f"{system}, of the system")]
