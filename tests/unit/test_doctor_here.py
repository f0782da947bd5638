"""What the doctor thinks of this side: rights, clocks, settings, the client."""

import pytest

from echomq_worker.config import Settings, load
from echomq_worker.doctor import ENVIRONMENT, judge
from echomq_worker.doctor.access import rights, scripts
from echomq_worker.doctor.clocks import clock, zones
from echomq_worker.doctor.facts import Facts, Rights, Zones
from echomq_worker.doctor.setup import client, encryption, settings
from echomq_worker.domain.finding import Severity
from echomq_worker.domain.server_facts import ServerFacts
from echomq_worker.store.rights import Missing, Needs

NEEDS = Needs(queues=("mail",))


def at(url: str) -> Facts:
    return Facts(settings=load({"ECHOMQ_REDIS_URL": url}).settings)


def with_rights(missing: Missing | None, url: str = "redis://h") -> Facts:
    return Facts(settings=at(url).settings, rights=Rights(needs=NEEDS, missing=missing))


def with_offset(ms: int, took_ms: float = 0) -> Facts:
    server = ServerFacts(info={}, clock_offset_ms=ms, round_trip_ms=took_ms)
    return Facts(settings=Settings(), server=server)


def test_a_user_with_every_right_is_well():
    (finding,) = rights(with_rights(Missing(), "redis://ann@h"))
    assert finding.severity is Severity.OK
    assert finding.text.startswith("the user ann may call all ")


def test_what_a_user_lacks_is_named_with_the_rule_that_grants_it():
    lacking = Missing(("client|setname", "zadd"), ("emq:{mail}:*",))
    (finding,) = rights(with_rights(lacking, "redis://ann@h"))

    assert finding.severity is Severity.FAIL
    assert finding.text == (
        "the user ann lacks the commands CLIENT SETNAME, ZADD and keys emq:{mail}:*"
    )
    assert finding.hint == NEEDS.acl_line("ann")


def test_the_default_user_is_not_to_be_cut_down_but_to_get_a_companion():
    (finding,) = rights(with_rights(Missing(("zadd",))))
    assert finding.hint.startswith("ACL SETUSER echomq reset on >PASSWORD ~emq:{mail}:* &emq")


def test_a_server_that_cannot_tell_rights_is_a_warning_with_the_rule():
    (finding,) = rights(with_rights(None))
    assert (finding.severity, NEEDS.acl_line() in finding.hint) == (Severity.WARN, True)


@pytest.mark.parametrize(
    ("missing", "severity"), [(Missing(), "ok"), (Missing(("evalsha",)), "fail")]
)
def test_a_server_that_runs_no_scripts_cannot_be_used(missing: Missing, severity: str):
    assert [finding.severity for finding in scripts(with_rights(missing))] == [severity]


def test_rights_that_nobody_could_be_asked_about_are_not_told():
    nobody = Facts(settings=Settings())
    assert rights(nobody) == scripts(nobody) == []


@pytest.mark.parametrize(
    ("offset", "took_ms", "severity", "way"),
    [
        (0, 0, "ok", "0 ms ahead of"),
        (-1_000, 0, "ok", "1000 ms behind"),
        (1_001, 0, "warn", "1001 ms ahead of"),
        (-1_001, 0, "warn", "1001 ms behind"),
        (1_400, 500, "ok", "1400 ms ahead of"),
    ],
)
def test_clocks_that_differ_by_more_than_a_second_are_a_warning(
    offset: int, took_ms: float, severity: str, way: str
):
    (finding,) = clock(with_offset(offset, took_ms))
    assert (finding.severity, finding.text) == (severity, f"the server's clock is {way} ours")


@pytest.mark.parametrize(
    ("system", "package", "severity"),
    [
        ("2025b", "2026f", "warn"),
        ("2026f", "2025b", "ok"),
        ("2026f", "2026f", "ok"),
        ("2025b", None, "ok"),
        (None, "2026f", "ok"),
        (None, None, "warn"),
        ("unknown", "2026f", "warn"),
    ],
)
def test_old_time_zone_data_that_hides_newer_is_a_warning(
    system: str | None, package: str | None, severity: str
):
    facts = Facts(settings=Settings(), zones=Zones(system=system, package=package))
    assert [finding.severity for finding in zones(facts)] == [severity]


@pytest.mark.parametrize(
    ("url", "severity", "says"),
    [
        ("unix:///run/s", "ok", "a unix socket"),
        ("redis://h", "ok", "no TLS"),
        ("rediss://h", "ok", "are verified"),
        ("rediss://h?ssl_cert_reqs=none", "warn", "anybody may pose as the server"),
    ],
)
def test_tls_that_verifies_nothing_is_a_warning(url: str, severity: str, says: str):
    (finding,) = encryption(at(url))
    assert (finding.severity, says in finding.text) == (severity, True)


def test_the_settings_of_the_client_are_told_as_they_are():
    facts = Facts(settings=load({"ECHOMQ_REDIS_TIMEOUT": "7s", "ECHOMQ_CONCURRENCY": "8"}).settings)
    (finding,) = client(facts)
    assert "12 connections, 3s to connect, 7s to answer" in finding.text


def test_every_oddity_of_the_settings_is_a_warning():
    odd = Facts(settings=Settings(), warnings=("ECHOMQ_A is not a setting", "so is B"))
    assert [finding.severity for finding in settings(odd)] == ["warn", "warn"]
    assert [finding.severity for finding in settings(Facts(settings=Settings()))] == ["ok"]


def test_every_check_says_in_a_sentence_what_holds_and_names_itself_in_its_findings():
    for check in ENVIRONMENT:
        assert check.holds.endswith(".")
        assert {finding.check for finding in check.look(everything())} == {check.name}


def test_all_checks_are_told_in_their_order():
    names = [finding.check for finding in judge(everything())]
    assert names == [check.name for check in ENVIRONMENT]


def everything() -> Facts:
    return Facts(
        settings=Settings(),
        server=ServerFacts(info={"redis_version": "8.4.0"}),
        rights=Rights(needs=NEEDS, missing=Missing()),
    )
