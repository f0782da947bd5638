"""`echomq doctor` as an operator runs it: what it says, what it mends, and how it exits."""

import json
from collections.abc import Generator
from typing import Any

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.protocol.keyspace import Keyspace
from tests.e2e.conftest import StartDaemon
from tests.support.least_rights import unrestricted
from tests.support.processes import echomq

KEYS = Keyspace("default")
LOST = "JOB00000000001"
NOBODYS = "JOB00000000002"
SECRET = "s3cr3t/#%@w0rd"  # noqa: S105 - of a server that lives as long as the test
QUOTED = "s3cr3t%2F%23%25%40w0rd"


@pytest.fixture
def admin(embedded: EmbeddedServer) -> Generator["redis.Redis"]:
    """Whoever may do anything on the test's server."""
    with redis.Redis.from_url(unrestricted(embedded.url), decode_responses=True) as client:
        yield client


def findings(output: str) -> dict[str, list[dict[str, Any]]]:
    """Return what `--json` says, by check."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in output.splitlines():
        record = json.loads(line)
        found.setdefault(record["check"], []).append(record)
    return found


def damage(admin: "redis.Redis") -> None:
    """Leave a row in no place and a member without a row."""
    admin.hset(
        KEYS.job(LOST),
        mapping={"state": "pending", "attempts": "0", "payload": '{"number":1}', "name": "quick"},
    )
    admin.zadd(KEYS.pending, {NOBODYS: 0})


def test_a_healthy_server_is_found_healthy(embedded: EmbeddedServer):
    done = echomq("doctor", ECHOMQ_REDIS_URL=embedded.url)

    assert done.returncode == 0, done.stderr
    assert "0 failures" in done.stdout
    for check in ("connects", "version", "eviction", "persistence", "rights", "clock", "scripts"):
        assert f" {check} " in done.stdout


def test_every_line_of_json_is_a_finding(embedded: EmbeddedServer):
    done = echomq("doctor", "--json", ECHOMQ_REDIS_URL=embedded.url)

    found = findings(done.stdout)
    assert {"connects", "eviction", "rights", "state"} <= set(found)
    assert {each["severity"] for many in found.values() for each in many} <= {"ok", "warn"}


@pytest.mark.broken_state("a row and a member are left over on purpose")
def test_a_dry_run_says_what_would_be_mended_and_mends_nothing(
    embedded: EmbeddedServer, admin: "redis.Redis"
):
    damage(admin)
    before = {key: admin.dump(key) for key in admin.keys(KEYS.root + "*")}  # pyright: ignore[reportUnknownVariableType, reportGeneralTypeIssues]

    done = echomq("doctor", "--repair", "--json", ECHOMQ_REDIS_URL=embedded.url)

    assert done.returncode == 4
    repairable = [
        each for many in findings(done.stdout).values() for each in many if each["repair"]
    ]
    assert {LOST, NOBODYS} <= {
        word for each in repairable for word in (LOST, NOBODYS) if word in json.dumps(each)
    }
    assert before == {key: admin.dump(key) for key in admin.keys(KEYS.root + "*")}  # pyright: ignore[reportUnknownVariableType, reportGeneralTypeIssues]


@pytest.mark.case("LSE-22")
def test_what_is_mended_runs_once_and_the_doctor_is_content(
    embedded: EmbeddedServer, admin: "redis.Redis", start_daemon: StartDaemon
):
    worker = start_daemon("run", "work:app")
    worker.wait_for("worker.started")
    damage(admin)

    mended = echomq("doctor", "--repair", "--yes", ECHOMQ_REDIS_URL=embedded.url)

    assert mended.returncode == 0, mended.stdout
    worker.wait_until(lambda: not admin.exists(KEYS.job(LOST)), "the lost job ran")
    assert "0 failures" in echomq("doctor", ECHOMQ_REDIS_URL=embedded.url).stdout
    assert admin.xlen(KEYS.quarantine) == 1


def test_dangerous_settings_of_a_server_are_named(embedded: EmbeddedServer, admin: "redis.Redis"):
    admin.config_set("maxmemory-policy", "allkeys-lru")
    admin.config_set("appendonly", "no")
    admin.config_set("save", "")

    done = echomq("doctor", "--json", ECHOMQ_REDIS_URL=embedded.url)

    found = findings(done.stdout)
    assert done.returncode == 4
    assert found["eviction"][0]["severity"] == "fail"
    assert "noeviction" in json.dumps(found["eviction"])
    assert found["persistence"][0]["severity"] != "ok"


def test_a_server_that_is_not_there_is_another_exit_code_than_one_that_refuses(
    embedded: EmbeddedServer, admin: "redis.Redis"
):
    nobody = echomq("doctor", ECHOMQ_REDIS_URL="redis://127.0.0.1:1/0")
    admin.config_set("requirepass", SECRET)
    try:
        refused = echomq("doctor", ECHOMQ_REDIS_URL=unrestricted(embedded.url))
    finally:
        admin.config_set("requirepass", "")

    assert (nobody.returncode, refused.returncode) == (69, 77)


def test_the_rule_that_it_prints_is_enough_for_a_worker(
    embedded: EmbeddedServer, admin: "redis.Redis", start_daemon: StartDaemon
):
    done = echomq("doctor", "--acl", "worker", ECHOMQ_REDIS_URL=unrestricted(embedded.url))
    assert "@all" not in done.stdout.replace("-@all", "")
    admin.execute_command(*done.stdout.replace("PASSWORD", "pw").split())
    url = unrestricted(embedded.url).replace("unix://", "unix://echomq:pw@")

    worker = start_daemon("run", "work:app", ECHOMQ_REDIS_URL=url)
    worker.wait_for("worker.started")
    job = echomq(*("job", "enqueue", "quick", "number:=7", "--wait", "10s"), ECHOMQ_REDIS_URL=url)

    assert job.returncode == 0, job.stderr + worker.said()
    admin.execute_command("ACL", "DELUSER", "echomq")


@pytest.mark.parametrize(("role", "severity"), [("worker", "warn"), ("operator", "ok")])
def test_what_a_user_may_not_read_is_no_failure_and_no_pass(
    embedded: EmbeddedServer, admin: "redis.Redis", role: str, severity: str
):
    plain = unrestricted(embedded.url)
    rule = echomq("doctor", "--acl", role, ECHOMQ_REDIS_URL=plain).stdout
    admin.execute_command(*rule.split())
    url = plain.replace("unix://", "unix://echomq:PASSWORD@")

    done = echomq("doctor", "--json", ECHOMQ_REDIS_URL=url)

    assert done.returncode == 0, done.stdout
    assert [finding["severity"] for finding in findings(done.stdout)["state"]] == [severity]
    admin.execute_command("ACL", "DELUSER", "echomq")


@pytest.mark.case("SEC-09")
@pytest.mark.parametrize(
    "url",
    [
        f"redis://:{QUOTED}@127.0.0.1:1/0",
        f"redis://ann:{QUOTED}@127.0.0.1:1/0",
        f"rediss://ann:{QUOTED}@127.0.0.1:1/0",
        f"redis://127.0.0.1:1/0?password={QUOTED}",
        f"unix://ann:{QUOTED}@/nowhere/s?db=0",
        f"unix:///nowhere/s?db=0&password={QUOTED}",
        f"redis+sentinel://ann:{QUOTED}@127.0.0.1:1/main?sentinel_password={QUOTED}",
        "redis://ann:" + SECRET + "@127.0.0.1:1/0",
    ],
)
@pytest.mark.parametrize(
    "words",
    [("doctor",), ("doctor", "--json"), ("config", "show"), ("run", "work:app", "--burst")],
    ids=" ".join,
)
def test_no_command_shows_a_password_in_whatever_form(url: str, words: tuple[str, ...]):
    done = echomq(
        *words,
        ECHOMQ_REDIS_URL=url,
        ECHOMQ_LOG_LEVEL="debug",
        ECHOMQ_REDIS_STARTUP_TIMEOUT="200ms",
    )

    said = done.stdout + done.stderr
    assert said
    for form in (SECRET, QUOTED, "s3cr3t", "w0rd"):
        assert form not in said


@pytest.mark.case("SEC-09")
@pytest.mark.parametrize("words", [("doctor",), ("run", "work:app", "--burst")], ids=" ".join)
def test_a_wrong_password_is_told_without_it(
    embedded: EmbeddedServer, admin: "redis.Redis", words: tuple[str, ...]
):
    admin.execute_command("ACL", "SETUSER", "ann", "on", ">another", "~*", "+@all")
    url = unrestricted(embedded.url).replace("unix://", f"unix://ann:{QUOTED}@")

    done = echomq(*words, ECHOMQ_REDIS_URL=url, ECHOMQ_DEBUG="true")

    assert done.returncode == 77
    assert "s3cr3t" not in done.stdout + done.stderr
    admin.execute_command("ACL", "DELUSER", "ann")
