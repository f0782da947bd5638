"""Time zones by name, from the newest data that is installed."""

import subprocess
import sys
import zoneinfo
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from echomq_worker import zones
from echomq_worker.errors import InvalidArgumentError, UnknownZoneError
from echomq_worker.zones import (
    find_zone,
    newer_data,
    package_zones,
    system_zones,
    zone_data_version,
)

SUMMER = datetime(2026, 7, 1, tzinfo=UTC)
TOKYO_FILE = files("tzdata").joinpath("zoneinfo", "Asia", "Tokyo").read_bytes()
TOKYO, BERLIN = timedelta(hours=9), timedelta(hours=2)

SystemData = Callable[[str | None], None]


def forget() -> None:
    zoneinfo.ZoneInfo.clear_cache()
    for cached in (zones.system_zones, zones.package_zones, zones._zone, zones._listed):
        cached.cache_clear()


@pytest.fixture
def system_data(tmp_path: Path) -> Iterator[SystemData]:
    """Make system data of a version in which Berlin has Tokyo's time, and there is no Paris."""

    def make(version: str | None) -> None:
        (tmp_path / "Europe").mkdir()
        for name in ("UTC", "Europe/Berlin", "localtime"):
            (tmp_path / name).write_bytes(TOKYO_FILE)
        if version is not None:
            (tmp_path / "tzdata.zi").write_text(f"# version {version}\n# more\n")
        zoneinfo.reset_tzpath([tmp_path])
        forget()

    yield make
    zoneinfo.reset_tzpath()
    forget()


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take the tzdata package away."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "tzdata"]:
        monkeypatch.setitem(sys.modules, name, None)
    forget()
    yield
    forget()


@pytest.mark.parametrize(
    ("version", "offset", "used"),
    [("2020a", BERLIN, None), ("2099a", TOKYO, "2099a"), (None, BERLIN, None)],
)
def test_the_newer_data_is_used_wherever_it_is(
    system_data: SystemData, version: str | None, offset: timedelta, used: str | None
):
    system_data(version)

    assert SUMMER.astimezone(find_zone("Europe/Berlin")).utcoffset() == offset
    assert zone_data_version() == (used or package_zones())


def test_a_zone_that_the_newer_data_of_the_system_lacks_is_taken_from_the_package(
    system_data: SystemData,
):
    system_data("2099a")

    assert SUMMER.astimezone(find_zone("Europe/Paris")).utcoffset() == BERLIN


@pytest.mark.usefixtures("no_package")
def test_data_that_does_not_tell_its_version_is_used_where_there_is_no_other(
    system_data: SystemData,
):
    system_data(None)

    assert SUMMER.astimezone(find_zone("Europe/Berlin")).utcoffset() == TOKYO
    assert zone_data_version() == "unknown"


@pytest.mark.usefixtures("no_package")
def test_utc_needs_no_data(system_data: SystemData, tmp_path: Path):
    system_data("2099a")
    zoneinfo.reset_tzpath([tmp_path / "none"])
    forget()

    assert zone_data_version() == ""
    assert SUMMER.astimezone(find_zone("UTC")) == SUMMER
    assert str(find_zone("UTC")) == "UTC"
    with pytest.raises(UnknownZoneError, match="expected a name such as"):
        find_zone("Europe/Berlin")


@pytest.mark.parametrize(
    ("a", "b", "newer"),
    [
        ("2026f", "2025b", True),
        ("2026b", "2026f", False),
        ("2026f", "2026f", False),
        ("2026za", "2026z", True),
        ("2026a", "unknown", True),
        ("2026a", "", True),
        ("unknown", "2026a", False),
        ("unknown", "", True),
        ("", "unknown", False),
        ("", "", False),
    ],
)
def test_versions_of_the_data_are_ordered(a: str, b: str, *, newer: bool):
    assert newer_data(a, b) is newer


def test_the_data_of_this_machine_has_a_version():
    for found in (system_zones(), package_zones()):
        assert found is None or found == "unknown" or found[:2] == "20"


@pytest.mark.case("CTZ-05")
@pytest.mark.parametrize(
    "name",
    ["", "../../etc/passwd", "/etc/localtime", "Europe/../UTC", "Europe//Berlin", "a" * 65, "UTC\0",
     "UTC\n", "Europe/Berlin ", ".", "Ɛurope/Berlin", None, b"UTC", 3],
)  # fmt: skip
def test_what_looks_like_no_zone_is_refused_before_any_file_is_looked_for(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(zones, "_zone", pytest.fail)

    with pytest.raises(UnknownZoneError, match="expected an IANA name such as Europe/Berlin"):
        find_zone(name)


@pytest.mark.case("CTZ-05")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Europe/Berlim", "did you mean Europe/Berlin"),
        ("utc", "expected UTC, exactly so"),
        ("europe/berlin", "expected Europe/Berlin, exactly so"),
        ("Zzzzzzzz", "expected a name such as Europe/Berlin or UTC"),
        ("Europe", "is no time zone"),
        ("leapseconds", "is no time zone"),
        ("localtime", "is no time zone"),
        ("posix/Europe/Berlin", "did you mean Europe/Berlin"),
        ("right/Europe/Berlin", "did you mean Europe/Berlin"),
        ("Factory", "is no time zone"),
    ],
)
def test_an_unknown_zone_is_refused_with_those_that_are_like_it(name: str, says: str):
    with pytest.raises(InvalidArgumentError, match=says):
        find_zone(name)


@pytest.mark.case("CTZ-05")
@pytest.mark.parametrize("name", ["EST5EDT", "US/Eastern", "Etc/GMT+5", "GMT0", "Asia/Calcutta"])
def test_names_of_old_are_zones_too(name: str):
    assert str(find_zone(name)) == name
    assert find_zone(name) is find_zone(name)


def test_the_own_choice_of_the_machine_is_no_zone(system_data: SystemData):
    system_data("2099a")

    with pytest.raises(UnknownZoneError):
        find_zone("localtime")


def test_no_file_of_the_data_is_opened_before_a_zone_is_asked_for():
    code = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
import echomq_worker.domain.cron
from echomq_worker.domain.cron import cron_rule
cron_rule("0 9 * * *").next_ms(0)
print(*[path for path in opened if "tzdata" in path or "/zoneinfo/" in path and ".p" not in path])
cron_rule("0 9 * * *", tz="Europe/Berlin")
print(*[path for path in opened if "Berlin" in path])
"""
    before, after = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.splitlines()

    assert before == ""
    assert "Berlin" in after


def test_a_probe_for_health_does_not_load_time_zones():
    code = "import sys, echomq_worker.health; print('zoneinfo' in sys.modules)"
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )

    assert found.stdout.strip() == "False"


def test_what_may_be_meant_by_a_wrong_name_is_worked_out_once():
    for _ in range(3):
        with pytest.raises(UnknownZoneError, match="Europe/Berlin"):
            find_zone("Europe/Berlinn")
    assert zones._hint.cache_info().hits >= 2
