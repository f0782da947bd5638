"""How firings are spelled for the scripts, and what is said about schedulers read back."""

from typing import Any

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.domain.scheduling.records import (
    Firing,
    OccurrenceVerdict,
    SchedulerState,
    Whole,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.protocol.scheduler_replies import (
    CALL_OCCURRENCES,
    CALL_SCHEDULERS,
    DUE_FIELDS,
    firing_operands,
    firing_parts,
    read_due,
    read_fired,
    read_view,
    scheduler_bytes,
    scheduler_text,
    timing_operands,
)
from echomq_worker.protocol.scheduler_rows import DEFINITION, spec_fields

A, B = JobId("JOB0NsUH6L9tuD"), JobId("JOB0NsUH6L9tuE")
SPEC = scheduler_spec("s1", template=Template(name="report", payload=b"p"), every="10m")
BOOKS = {"digest": "d", "next": "600000", "revision": "3", "source": "code"}


def fire(name: str = "s1", *, occurrences: int = 0) -> Firing:
    pairs = tuple((A, i) for i in range(occurrences))
    return Firing(name=name, expected_ms=1, digest="d", next_ms=2, wake_ms=3, occurrences=pairs)


def stored(_spec: SchedulerSpec = SPEC, /, **books: str) -> dict[str, bytes]:
    fields = {**spec_fields(_spec), **BOOKS, **books}
    return {
        name: value if isinstance(value, bytes) else value.encode()
        for name, value in fields.items()
    }


def found(fields: dict[str, bytes], *, wake: bytes = b"600000", kind: bytes = b"hash") -> list[Any]:
    flat = [word for name, value in fields.items() for word in (name.encode(), value)]
    return [b"s1", wake, kind, flat]


def due(fields: dict[str, bytes], *, kind: bytes = b"hash") -> Any:
    values = [fields.get(name) for name in DUE_FIELDS] if kind == b"hash" else []
    reply = read_due([700_000, b"900000", [[b"s1", b"600000", kind, values]], b"800000"])
    assert (reply.now_ms, reply.next_ms, reply.repeat_ms) == (700_000, 900_000, 800_000)
    return reply.schedulers[0]


def test_a_firing_is_spelled_with_its_occurrences():
    firing = Firing(
        name="s1",
        expected_ms=None,
        digest="d",
        next_ms=None,
        wake_ms=None,
        tz="2026b",
        ended="end",
        missed=4,
        occurrences=((A, 5), (B, 6)),
    )
    head = [b"s1", "", "d", "", "", "2026b", "end", 4, 2]
    assert firing_operands([firing]) == [*head, A, 5, B, 6]
    plain = [b"s2", 1, "d", 2, 3, "", "", 0, 0]
    assert firing_operands([firing, fire("s2")])[13:] == plain


def test_a_call_takes_so_many_schedulers_and_occurrences():
    many = [fire(str(number)) for number in range(CALL_SCHEDULERS + 1)]
    assert [len(part) for part in firing_parts(many)] == [CALL_SCHEDULERS, 1]
    heavy = [fire(str(number), occurrences=100) for number in range(6)]
    assert [len(part) for part in firing_parts(heavy)] == [CALL_OCCURRENCES // 100, 1]
    assert list(firing_parts([])) == []


def test_verdicts_are_read_a_character_an_occurrence():
    firings = [fire(name) for name in ("a", "b", "c", "d", "e")]
    read = read_fired(firings, [b"1sqd", b"", b"x", b"i", b"l"])

    assert [each.name for each in read] == ["a", "b", "c", "d", "e"]
    assert [each.whole for each in read] == [
        *(Whole.OK, Whole.OK, Whole.TAKEN, Whole.ID_TAKEN, Whole.LATER)
    ]
    assert read[0].verdicts == (
        OccurrenceVerdict.FIRED,
        OccurrenceVerdict.SKIPPED,
        OccurrenceVerdict.HELD,
        OccurrenceVerdict.DONE,
    )
    assert all(each.verdicts == () for each in read[1:])


def test_a_due_scheduler_is_read_without_its_payload():
    one = due(stored(count="7", held="500000", tz="2026b"))

    assert one.spec is not None
    assert one.spec.template == Template(name="report")
    assert (one.spec.rule, one.spec.revision) == (SPEC.rule, 3)
    assert (one.next_ms, one.wake_ms, one.digest) == (600_000, 600_000, "d")
    assert (one.count, one.held_ms, one.tz) == (7, 500_000, "2026b")
    assert (one.problem, one.is_corrupt) == ("", False)


def test_one_that_has_ended_may_be_due_for_what_was_kept_back():
    one = due(stored(next="", held="500000"))

    assert (one.next_ms, one.held_ms, one.is_corrupt) == (None, 500_000, False)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("digest", b""), ("next", b"soon"), ("next", b"-5"), ("next", b"1" * 16)),
        *(("count", b"x"), ("held", b"1e3"), ("every", b"x"), ("overlap", b"maybe")),
        *(("last", b"9e99"), ("last", b"9" * 14), ("last", b"600000"), ("revision", b"1e3")),
    ],
)
def test_nonsense_is_corrupt_and_named(field: str, value: bytes):
    fields = stored() | {field: value}
    one, view = due(fields), read_view(found(fields))

    assert view is not None
    assert (one.spec, one.is_corrupt) == (None, True)
    assert (view.spec, view.state) == (None, SchedulerState.CORRUPT)
    for problem in (one.problem, view.problem):
        assert "s1" in problem
        assert field in problem


@pytest.mark.parametrize("field", ["digest", "next", "every"])
def test_what_lacks_a_field_is_corrupt(field: str):
    fields = stored()
    del fields[field]

    assert due(fields).is_corrupt


@pytest.mark.parametrize("kind", [b"none", b"string"])
def test_what_is_no_hash_is_corrupt(kind: bytes):
    one, view = due({}, kind=kind), read_view(found({}, kind=kind))

    assert one.is_corrupt
    assert view is not None
    assert view.state is SchedulerState.CORRUPT
    assert "expected a hash" in one.problem


def test_an_unknown_zone_is_a_problem_that_newer_data_may_cure():
    spec = scheduler_spec("s1", template=SPEC.template, cron="0 9 * * *", tz="Europe/Berlin")
    fields = stored(spec) | {"zone": b"Europe/Atlantis"}
    one, view = due(fields), read_view(found(fields))

    assert (one.spec, one.is_corrupt) == (None, False)
    assert "Europe/Atlantis" in one.problem
    assert view is not None
    assert (view.spec, view.state) == (None, SchedulerState.WAITING)


@pytest.mark.parametrize(
    ("books", "state"),
    [
        ({}, SchedulerState.WAITING),
        ({"paused": "", "paused_at": "5"}, SchedulerState.PAUSED),
        ({"paused": "why", "ended": "end"}, SchedulerState.PAUSED),
        ({"next": "", "ended": "limit"}, SchedulerState.ENDED),
        ({"next": "", "ended": "end", "held": "5"}, SchedulerState.WAITING),
    ],
)
def test_the_state_follows_from_the_books(books: dict[str, str], state: SchedulerState):
    view = read_view(found(stored(**books)))

    assert view is not None
    assert view.state is state


def test_a_view_tells_all():
    runs = {"runs": "1 2 3", "run:1": f"{A} completed 9", "run:2": f"{B} fired 8"}
    view = read_view(found(stored(paused="why", paused_at="5", paused_by="ann", **runs)))

    assert view is not None
    assert view.spec is not None
    assert view.spec.template.payload == b"p"
    assert view.spec.revision == view.revision == 3
    assert view.paused is not None
    assert (view.paused.since_ms, view.paused.reason, view.paused.by) == (5, "why", "ann")
    assert [(run.instant_ms, run.job_id, run.outcome, run.at_ms) for run in view.runs] == [
        (1, A, "completed", 9),
        (2, B, "fired", 8),
    ]


def test_a_resting_one_never_wakes_and_one_that_is_nowhere_is_none():
    view = read_view(found(stored(), wake=b"inf"))

    assert view is not None
    assert view.wake_ms is None
    assert read_view([b"s1", b"", b"none", []]) is None


def test_any_name_comes_back_as_it_was():
    for name in (b"s1", "\u00e4".encode(), b"\xff\xfe \n"):
        assert scheduler_bytes(scheduler_text(name)) == name


def test_the_version_of_the_tz_data_is_kept_only_where_it_matters():
    berlin = scheduler_spec("s1", template=SPEC.template, cron="0 9 * * *", tz="Europe/Berlin")
    utc = scheduler_spec("s1", template=SPEC.template, cron="0 9 * * *")

    assert timing_operands(berlin, 5, "2026b") == {"instant": 5, "wake": 5, "tz": "2026b"}
    assert timing_operands(utc, None, "2026b") == {"instant": "", "wake": "", "tz": ""}
    assert timing_operands(SPEC, 5, "2026b")["tz"] == ""


def test_all_that_firing_is_planned_from_is_asked_for_but_the_payload():
    assert set(DEFINITION) - set(DUE_FIELDS) == {"payload"}


@pytest.mark.parametrize(("score", "ms"), [(b"", None), (b"-inf", 0), (b"inf", None), (b"7", 7)])
def test_when_a_peers_registration_is_due_is_read_whatever_its_score(score: bytes, ms: int | None):
    assert read_due([700_000, b"", [], score]).repeat_ms == ms
