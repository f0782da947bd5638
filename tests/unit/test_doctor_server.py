"""What the doctor thinks of a server, by what the server has told."""

from collections.abc import Mapping

import pytest

from echomq_worker.config import Settings
from echomq_worker.doctor.connection import connects, role
from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.memory import eviction, memory, rows
from echomq_worker.doctor.persistence import persistence
from echomq_worker.doctor.release import known_flaws, version
from echomq_worker.domain.finding import Finding
from echomq_worker.domain.server_facts import ServerFacts
from echomq_worker.errors import UnavailableError

MIB = 1 << 20


def facts(
    info: Mapping[str, str] | None = None,
    config: Mapping[str, str] | None = None,
    *,
    took_ms: float = 0.3,
    settings: Settings | None = None,
) -> Facts:
    server = ServerFacts(info=info or {}, config=config, round_trip_ms=took_ms)
    return Facts(settings=settings or Settings(), server=server, location="redis://h:1/0")


def release(name: str, number: str) -> Facts:
    return facts(
        {"redis_version": "7.2.4" if name == "valkey" else number, f"{name}_version": number}
    )


def told(findings: list[Finding]) -> list[str]:
    return [f"{finding.severity}: {finding.text}" for finding in findings]


def test_a_server_that_answers_is_told_with_how_long_it_took():
    assert told(connects(facts())) == ["ok: redis://h:1/0 answers within 0.3 ms"]


def test_a_server_that_is_far_away_is_a_warning():
    (finding,) = connects(facts(took_ms=51))
    assert (finding.severity, "near the server" in finding.hint) == ("warn", True)


def test_a_server_that_does_not_answer_fails_with_the_reason_and_ends_what_needs_it():
    away = Facts(
        settings=Settings(), trouble=UnavailableError("it is gone"), location="redis://h:1"
    )

    assert told(connects(away)) == ["fail: redis://h:1: it is gone"]
    for check in (role, version, known_flaws, eviction, persistence, memory, rows):
        assert check(away) == []


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ({"role": "master"}, "ok: a primary"),
        ({"role": "master", "connected_slaves": "2"}, "ok: a primary with 2 replicas"),
        ({"role": "slave"}, "fail: this is a replica, which refuses every write"),
        ({"role": "master", "redis_mode": "cluster"}, "warn: this is a node of a cluster"),
    ],
)
def test_only_a_primary_outside_a_cluster_will_do(info: dict[str, str], expected: str):
    assert told(role(facts(info))) == [expected]


@pytest.mark.parametrize(
    ("name", "number", "severity"),
    [
        ("redis", "5.0.14", "fail"),
        ("redis", "6.0.16", "fail"),
        ("redis", "6.2.0", "ok"),
        ("redis", "7.0.15", "ok"),
        ("redis", "8.2.2", "ok"),
        ("valkey", "7.2.5", "ok"),
        ("valkey", "9.1.2", "ok"),
        ("redis", "unstable", "warn"),
    ],
)
def test_redis_from_6_2_on_and_any_valkey_will_do(name: str, number: str, severity: str):
    (finding,) = version(release(name, number))
    assert (finding.severity, number in finding.text) == (severity, True)


@pytest.mark.case("SEC-12")
@pytest.mark.parametrize(
    ("name", "number", "fixed"),
    [
        ("redis", "6.2.19", "6.2.20"),
        ("redis", "7.0.15", "7.2.11"),
        ("redis", "7.2.10", "7.2.11"),
        ("redis", "7.4.5", "7.4.6"),
        ("redis", "8.0.3", "8.0.4"),
        ("redis", "8.2.1", "8.2.2"),
        ("redis", "5.0.1", "6.2.20"),
        ("valkey", "7.2.10", "7.2.11"),
        ("valkey", "8.0.5", "8.0.6"),
        ("valkey", "8.1.3", "8.1.4"),
        ("valkey", "9.0.3", "9.0.4"),
    ],
)
def test_a_version_with_known_flaws_is_a_warning_that_leaves_room_for_distributions(
    name: str, number: str, fixed: str
):
    (finding,) = known_flaws(release(name, number))

    assert finding.severity == "warn"
    assert finding.text.startswith(f"{name} {number} is older than {fixed}, which fixes CVE-20")
    assert "a distribution may carry the fixes under the old number" in finding.hint


@pytest.mark.case("SEC-12")
@pytest.mark.parametrize(
    ("name", "number"),
    [
        *(("redis", number) for number in ("6.2.20", "7.2.11", "7.4.6", "8.0.4", "8.2.2", "8.4.0")),
        *(
            ("valkey", number)
            for number in ("7.2.11", "8.0.6", "8.1.4", "9.0.4", "9.1.0", "10.0.0")
        ),
    ],
)
def test_a_version_with_the_fixes_is_well(name: str, number: str):
    assert [finding.severity for finding in known_flaws(release(name, number))] == ["ok"]


def test_a_version_that_cannot_be_read_is_not_called_safe():
    assert known_flaws(release("redis", "unstable")) == []


@pytest.mark.parametrize(
    ("info", "config", "expected"),
    [
        ({"maxmemory_policy": "noeviction"}, None, "ok: maxmemory-policy is noeviction"),
        ({}, {"maxmemory-policy": "noeviction"}, "ok: maxmemory-policy is noeviction"),
        ({"maxmemory_policy": "allkeys-lru"}, None, "fail: maxmemory-policy is allkeys-lru: the "),
        ({"maxmemory_policy": "volatile-ttl"}, {}, "fail: maxmemory-policy is volatile-ttl: the "),
        ({}, None, "warn: the server does not tell its maxmemory-policy"),
    ],
)
def test_only_a_server_that_drops_nothing_will_do_and_one_that_hides_it_is_no_pass(
    info: dict[str, str], config: dict[str, str] | None, expected: str
):
    (text,) = told(eviction(facts(info, config)))
    assert text.startswith(expected)


def test_eviction_that_was_allowed_is_a_warning():
    evicting = facts({"maxmemory_policy": "allkeys-lru"}, settings=Settings(allow_eviction=True))
    assert [finding.severity for finding in eviction(evicting)] == ["warn"]


AOF = {"aof_enabled": "1"}
NO_AOF = {"aof_enabled": "0"}


@pytest.mark.parametrize(
    ("info", "config", "expected"),
    [
        (AOF, {"appendfsync": "always"}, "ok: every write is on disk before it is answered"),
        (AOF, {"appendfsync": "everysec"}, "ok: writes are logged; a power cut may lose about a "),
        (AOF, {"appendfsync": "no"}, "warn: writes are logged, but reach the disk whenever"),
        (AOF, None, "warn: writes are logged; the server does not tell how often"),
        (NO_AOF, {"save": "3600 1"}, "warn: only snapshots (save 3600 1): a restart loses"),
        (NO_AOF, {"save": ""}, "warn: nothing is kept on disk: a restart loses all jobs"),
        (NO_AOF, None, "warn: the server does not tell whether it keeps jobs on disk"),
        ({}, {"save": ""}, "warn: the server does not tell whether it keeps jobs on disk"),
        (
            NO_AOF | {"connected_slaves": "1"},
            {"save": ""},
            "fail: nothing is kept on disk: a restart empties this server, and its replicas",
        ),
    ],
)
def test_what_a_restart_would_lose_is_told(
    info: dict[str, str], config: dict[str, str] | None, expected: str
):
    (text,) = told(persistence(facts(info, config)))
    assert text.startswith(expected)


@pytest.mark.parametrize(
    "status",
    ["rdb_last_bgsave_status", "aof_last_write_status", "aof_last_bgrewrite_status"],
)
def test_a_write_to_disk_that_failed_is_a_failure_of_its_own(status: str):
    findings = persistence(facts(AOF | {status: "err"}, {"appendfsync": "everysec"}))
    assert [finding.severity for finding in findings] == ["fail", "ok"]


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ({"used_memory": 10 * MIB, "maxmemory": 100 * MIB}, "ok: 10 of 100 MiB are used (10%"),
        ({"used_memory": 80 * MIB, "maxmemory": 100 * MIB}, "warn: 80 of 100 MiB"),
        ({"used_memory": 95 * MIB, "maxmemory": 100 * MIB}, "fail: 95 of 100 MiB"),
        (
            {"used_memory": 10 * MIB, "maxmemory": 0, "total_system_memory": 100 * MIB},
            "ok: 10 of 100 MiB are used (10% of the machine; no maxmemory is set)",
        ),
        ({"used_memory": 10 * MIB, "maxmemory": 0}, "warn: 10 MiB are used, of an unknown limit"),
    ],
)
def test_how_near_the_limit_of_memory_is(info: dict[str, int], expected: str):
    (text,) = told(memory(facts({name: str(number) for name, number in info.items()})))
    assert text.startswith(expected)


@pytest.mark.parametrize(
    ("config", "severity"),
    [
        ({"hash-max-listpack-value": "1024"}, "ok"),
        ({"hash-max-ziplist-value": "2048"}, "ok"),
        ({"hash-max-listpack-value": "64"}, "warn"),
        (None, "warn"),
    ],
)
def test_rows_of_ordinary_jobs_should_be_compact(config: dict[str, str] | None, severity: str):
    assert [finding.severity for finding in rows(facts({}, config))] == [severity]
