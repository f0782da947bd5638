"""Time zones by name, from the newest data that is installed.

Python looks at the system's files first, however old they are. Here the newer of those and of the
`tzdata` package is used, so that workers agree also where an image is never updated. Nothing is
read before a zone is asked for, and `UTC` needs no data at all.
"""

import re
import zoneinfo
from datetime import UTC, tzinfo
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from echomq_worker.errors import UnknownZoneError

_LONGEST_NAME = 64
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
_NO_ZONES = re.compile(r"(?:posix|right)/.*|posixrules|localtime|Factory", re.IGNORECASE)
"""Files beside the zones: copies with other seconds, this machine's own choice, a placeholder."""
_VERSION = re.compile(r"[0-9]{4}[a-z]{1,2}")
_VERSION_FILES = ("tzdata.zi", "+VERSION")
_LONGEST_LINE = 100
# A file of a zone without transitions (RFC 9636): a header, one offset of 0 s, its name.
_UTC_FILE = b"TZif" + bytes(35) + b"\1\0\0\0\4" + bytes(6) + b"UTC\0"


def find_zone(name: str) -> ZoneInfo:
    """Return the time zone `name`, spelled exactly as in the IANA database.

    Names of old, such as `US/Eastern` and `EST5EDT`, are zones as well; `utc` is not `UTC`. The
    time zone of this machine or process is never looked at.

    Raises:
        UnknownZoneError: if there is none. What looks like a path is refused by its look.
    """
    if not _looks_right(name):
        shown = repr(name)[: _LONGEST_NAME + 2]
        msg = f"{shown} is no time zone: expected an IANA name such as Europe/Berlin or UTC"
        raise UnknownZoneError(msg)
    return _zone(name)


def zone_name(zone: str | tzinfo) -> str:
    """Return the name of a time zone, by which all workers find it, each in its own data.

    Raises:
        UnknownZoneError: if it has none, as one that was read from a file, or a fixed offset.
    """
    if isinstance(zone, tzinfo):
        name = "UTC" if zone is UTC else getattr(zone, "key", None)
    else:
        name = zone
    if name is None:
        msg = f"{zone!r} has no name: expected an IANA name such as Europe/Berlin or UTC"
        raise UnknownZoneError(msg)
    return name


def zone_data_version() -> str:
    """Return the version of the data that `find_zone` reads, such as `2026b`.

    `unknown` is data that does not tell its version; "" stands for no data, with which there is
    only `UTC`.
    """
    return _chosen()[1]


def newer_data(a: str, b: str) -> bool:
    """Return whether the version `a` is newer than `b`; "" and `unknown` are older than all."""
    return _rank(a) > _rank(b)


@lru_cache(maxsize=1)
def system_zones() -> str | None:
    """Return the version of the time zone data of the system; None if there is none."""
    for folder in map(Path, zoneinfo.TZPATH):
        if not (folder / "UTC").exists():
            continue
        for name in _VERSION_FILES:
            try:
                with (folder / name).open(encoding="ascii", errors="replace") as file:
                    line = file.readline(_LONGEST_LINE)
            except OSError:
                continue
            return line.removeprefix("# version ").strip()
        return "unknown"
    return None


@lru_cache(maxsize=1)
def package_zones() -> str | None:
    """Return the version of the data in the tzdata package, as the system's are written."""
    try:
        import tzdata  # noqa: PLC0415 - only where it is installed
    except ImportError:
        return None
    return str(tzdata.IANA_VERSION)


def package_is_newer(system: str | None, package: str | None) -> bool:
    """Return whether the data of the tzdata package, not the system's, is the one to use."""
    return package is not None and newer_data(package, system or "")


def _looks_right(name: object) -> bool:
    return isinstance(name, str) and len(name) <= _LONGEST_NAME and bool(_NAME.fullmatch(name))


def _chosen() -> tuple[bool, str]:
    system, package = system_zones(), package_zones()
    from_package = package_is_newer(system, package)
    return from_package, (package if from_package else system) or ""


def _rank(version: str) -> tuple[int, str]:
    match = _VERSION.match(version)
    return (2, match[0]) if match else (1 if version else 0, "")


@lru_cache(maxsize=1024)
def _zone(name: str) -> ZoneInfo:
    if name == "UTC":
        return ZoneInfo.from_file(BytesIO(_UTC_FILE), key="UTC")
    zone = None if _NO_ZONES.fullmatch(name) or _spelled_otherwise(name) else _read(name)
    if zone is None:
        msg = f"{name!r} is no time zone of the IANA database: {_hint(name)}"
        raise UnknownZoneError(msg)
    return zone


@lru_cache(maxsize=256)  # rows with the name are read again and again, and looking costs ms
def _hint(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for what is misspelled

    names = {known.lower(): known for known in _names() if not _NO_ZONES.fullmatch(known)}
    if name.lower() in names:
        return f"expected {names[name.lower()]}, exactly so"
    near = get_close_matches(name.lower(), names, n=2)
    if near:
        return f"did you mean {' or '.join(names[one] for one in near)}?"
    return "expected a name such as Europe/Berlin or UTC"


def _read(name: str) -> ZoneInfo | None:
    try:
        if _chosen()[0] and (zone := _from_package(name)):
            return zone
        return ZoneInfo(name)  # the system's, or the package's where the system has none
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _from_package(name: str) -> ZoneInfo | None:
    from importlib.resources import files  # noqa: PLC0415 - only where it is used

    try:
        file = files("tzdata").joinpath("zoneinfo", *name.split("/"))
        return ZoneInfo.from_file(BytesIO(file.read_bytes()), key=name)
    except (ValueError, OSError):
        return None


def _spelled_otherwise(name: str) -> bool:
    """Some file systems find a name in any case; a fleet has to agree, so it is exact."""
    listed = _listed()
    return name not in listed and name.lower() in {other.lower() for other in listed}


def _names() -> frozenset[str]:
    return _listed() or frozenset({"UTC", *zoneinfo.available_timezones()})


@lru_cache(maxsize=1)
def _listed() -> frozenset[str]:
    from importlib.resources import files  # noqa: PLC0415 - only where it is used

    try:
        return frozenset(files("tzdata").joinpath("zones").read_text("ascii").split())
    except (ImportError, OSError):
        return frozenset()
