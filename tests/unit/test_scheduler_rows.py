import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.cron import cron_rule
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.scheduling.misfire import Misfire
from echomq_worker.domain.scheduling.overlap import Overlap
from echomq_worker.domain.scheduling.rule import Every
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import CorruptSchedulerError, UnknownZoneError
from echomq_worker.protocol.scheduler_rows import (
    DEFINITION,
    FIELDS,
    digests,
    read_spec,
    spec_fields,
)
from tests.unit.scheduling_fakes import START, spec

CRONS = ["* * * * *", "0 9 * * MON-FRI", "30 2 L * *", "*/10 * * * * *"]
ZONES = ["UTC", "Europe/Berlin", "Australia/Lord_Howe"]
MS = st.integers(0, 10**12)
PLACES: list[Any] = [{}, {"priority": -5}, {"priority": 2**20}, {"lane": "acme"}]


def stored(made: SchedulerSpec) -> dict[str, bytes]:
    """The fields as they come back from Redis."""
    return {
        name: value if isinstance(value, bytes) else value.encode()
        for name, value in spec_fields(made).items()
    }


@st.composite
def specs(draw: st.DrawFn) -> SchedulerSpec:
    start = draw(st.none() | st.integers(0, START))
    if draw(st.booleans()):
        rule = cron_rule(
            draw(st.sampled_from(CRONS)),
            tz=draw(st.sampled_from(ZONES)),
            dst=draw(st.sampled_from(["cron", "skip"])),
        )
    else:
        period = draw(st.integers(100, 10**10))
        rule = Every(period, draw(st.integers(0, period - 1)), start or 0)
    most = 99 if isinstance(rule, Every) else 86_400_000
    misfire = st.builds(Misfire, st.just("all"), st.integers(1, 100), st.none() | st.integers(1, 9))
    other = st.builds(
        Misfire, st.sampled_from(["latest", "none"]), within_ms=st.none() | st.integers(1, 9)
    )
    return SchedulerSpec(
        name=draw(st.sampled_from(["nightly", "a:b/c"])),
        rule=rule,
        template=Template(
            name=draw(st.none() | st.sampled_from(["report", "x" * 200])),
            payload=draw(st.binary(max_size=20)),
            max_attempts=draw(st.none() | st.integers(1, 10**6)),
            keep_result_ms=draw(st.none() | MS),
            timeout_ms=draw(st.none() | MS),
            ttl_ms=draw(st.none() | st.integers(1, 10**12)),
            backoff=draw(st.none() | st.just("exponential:1000:600000:2:full")),
            limit_key=draw(st.none() | st.just("mail/acme")),
            **draw(st.sampled_from(PLACES)),
        ),
        start_ms=start,
        end_ms=draw(st.none() | st.integers(START, 2 * START)),
        limit=draw(st.none() | st.integers(1, 10**12)),
        jitter_ms=draw(st.integers(0, most)),
        misfire=draw(misfire | other),
        overlap=draw(st.sampled_from(Overlap)),
    )


@given(specs())
def test_what_is_written_is_read_back(made: SchedulerSpec):
    fields = stored(made)
    assert read_spec(made.name, fields) == made
    assert set(fields) <= set(DEFINITION)
    assert digests(read_spec(made.name, fields)) == digests(made)


@given(specs())
def test_a_firer_reads_the_same_without_the_payload(made: SchedulerSpec):
    fields = {name: value for name, value in stored(made).items() if name in FIELDS}
    read = read_spec(made.name, fields)
    assert read.template.payload == b""
    assert (read.rule, read.misfire, read.end_ms) == (made.rule, made.misfire, made.end_ms)


def test_what_is_default_is_not_stored():
    assert spec_fields(spec()) == {"every": "60000", "name": "report"}
    assert spec_fields(spec(cron="0 9 * * *", immediately=True, revision=5)) == {
        "cron": "0 9 * * *",
        "name": "report",
    }


def test_everything_else_is_spelled_as_short_texts():
    made = spec(
        cron="0 9 * * *",
        tz="Europe/Berlin",
        dst="skip",
        limit=5,
        jitter="1s",
        misfire="all(max=5, within=1d)",
        overlap="queue-one",
        template=Template(name="report", payload=b"[1]", ttl_ms=60_000),
    )
    assert spec_fields(made) == {
        "cron": "0 9 * * *",
        "zone": "Europe/Berlin",
        "dst": "skip",
        "limit": "5",
        "jitter": "1000",
        "misfire": "all:5",
        "within": "86400000",
        "overlap": "queue-one",
        "name": "report",
        "ttl": "60000",
        "payload": b"[1]",
    }


def test_a_place_among_the_others_is_spelled_with_the_group_of_its_lane():
    def place(**said: Any) -> dict[str, str | bytes]:
        fields = spec_fields(spec(template=Template(name="report", **said)))
        return {name: fields[name] for name in fields if name not in {"every", "name"}}

    assert place(priority=-7) == {"priority": "-7"}
    assert place(priority=0) == {}
    assert place(lane="acme") == {"lane": "acme", "group": lane_group("acme")}


@pytest.mark.parametrize(
    "fields",
    [
        {"priority": b"x"},
        {"priority": b"1048577"},
        {"priority": b"--1"},
        {"lane": b"a b"},
        {"lane": b"acme", "priority": b"3"},
    ],
)
def test_a_place_that_is_none_is_corrupt(fields: dict[str, bytes]):
    with pytest.raises(CorruptSchedulerError):
        read_spec("nightly", stored(spec()) | fields)


def test_bookkeeping_is_passed_over_but_for_the_revision():
    fields = stored(spec()) | {"count": b"7", "next": b"what", "revision": b"3", "run:1": b"x"}
    read = read_spec("nightly", fields)
    assert read.revision == 3
    assert digests(read) == digests(spec())


# --- digests ----------------------------------------------------------------------------------


def test_a_digest_is_the_same_for_ever():
    assert digests(spec(cron="0 9 * * *", tz="Europe/Berlin")) == (
        "e666949270e46cda",
        "0c36aab72480de23",
    )


def test_a_digest_is_the_same_in_another_process():
    program = (
        "from tests.unit.scheduling_fakes import spec\n"
        "from echomq_worker.protocol.scheduler_rows import digests\n"
        "print(*digests(spec(misfire='all', limit=5)))"
    )
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert tuple(told.stdout.split()) == digests(spec(misfire="all", limit=5))


@pytest.mark.parametrize(
    ("changed", "rule_too"),
    [
        ({"every": "2m"}, True),
        ({"offset": "1s"}, True),
        ({"limit": 9}, True),
        ({"jitter": "1s"}, True),
        ({"misfire": "none"}, False),
        ({"misfire": "latest(within=1h)"}, False),
        ({"overlap": "skip"}, False),
        ({"template": Template(name="other")}, False),
        ({"template": Template(name="report", payload=b"x")}, False),
        ({"template": Template(name="report", max_attempts=3)}, False),
    ],
)
def test_a_change_shows_in_the_digest_and_one_of_the_rule_in_the_rules(
    changed: dict[str, Any], *, rule_too: bool
):
    before, after = digests(spec()), digests(spec(**changed))
    assert before[0] != after[0]
    assert (before[1] != after[1]) is rule_too


def test_who_declares_it_and_when_shows_in_no_digest():
    assert digests(spec(revision=7, immediately=True)) == digests(spec())


# --- corrupt rows -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"every": b"soon"}, "its every is b'soon': expected a whole number"),
        ({"every": b"-5"}, "its every is b'-5'"),
        ({"every": b"5"}, "its every is b'5': the interval is 5ms"),
        ({"every": b"9" * 16}, "its every"),
        ({"every": b"\xd9\xa5"}, "its every"),
        ({"every": None}, "its every: expected either cron or every, found neither"),
        (
            {"cron": b"* * * * *"},
            "its every is b'60000': expected either cron or every, found both",
        ),
        ({"every": None, "cron": b"whenever"}, "its cron is b'whenever'"),
        (
            {"every": None, "cron": b"\xff"},
            "its cron is b'\\\\xff': expected a short text in UTF-8",
        ),
        ({"every": None, "cron": b"* " * 5_000}, "its cron"),
        ({"every": None, "cron": b"* * * * *", "dst": b"x"}, "its cron"),
        ({"offset": b"60000"}, "its every is b'60000': the offset is 1m"),
        ({"start": b"x"}, "its start is b'x'"),
        ({"start": b"9", "end": b"5"}, "ends at"),
        ({"end": b"1.5"}, "its end is b'1.5'"),
        ({"limit": b"0"}, "has limit 0"),
        ({"jitter": b"60000"}, "has a jitter of 1m"),
        ({"misfire": b"sometimes"}, "its misfire is b'sometimes'"),
        ({"misfire": b"all:0"}, "its misfire is b'all:0'"),
        ({"within": b"0"}, "misfire has within=0ms"),
        ({"overlap": b"\n"}, "its overlap"),
        ({"backoff": b"x" * 300}, "its template: the template's backoff"),
        ({"max": b"0"}, "its template: the template's max_attempts"),
        ({"ttl": b""}, "its ttl is b''"),
        ({"name": b"\xc3"}, "its name"),
    ],
)
def test_a_corrupt_field_is_named(changed: dict[str, bytes | None], problem: str):
    fields = {
        name: value for name, value in {**stored(spec()), **changed}.items() if value is not None
    }
    with pytest.raises(CorruptSchedulerError, match=f"scheduler nightly: .*{problem}"):
        read_spec("nightly", fields)


@given(
    st.dictionaries(
        st.sampled_from([*DEFINITION, "revision"]),
        st.binary(max_size=12) | st.integers(0, 10**16).map(lambda n: str(n).encode()),
    )
)
def test_whatever_the_fields_hold_it_is_read_or_refused(fields: dict[str, bytes]):
    try:
        read_spec("nightly", fields)
    except (CorruptSchedulerError, UnknownZoneError):
        return


def test_a_zone_that_is_not_known_here_is_no_corruption():
    fields = {"cron": b"* * * * *", "zone": b"Europe/Atlantis"}
    with pytest.raises(UnknownZoneError):
        read_spec("nightly", fields)
