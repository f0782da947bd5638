"""Arguments and results: equal after the trip, or refused; never changed in silence."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from echomq_worker import EchoMQ, JobState, testing
from echomq_worker.domain.job import Held
from echomq_worker.domain.limits import RESULT_BYTES
from echomq_worker.domain.outcome import Buried, HandedBack, Outcome, Retried, Snoozed
from echomq_worker.errors import ArgumentsError, ResultUnavailableError
from echomq_worker.store import QueueStore, Requeued
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, claim, claim_one, enqueue, new_job, settle
from tests.support.look import Look


@pytest.fixture
def app(server_url: str, queue_name: str) -> EchoMQ:
    return EchoMQ(redis_url=server_url, default_queue=queue_name)


async def there_and_back(app: EchoMQ, server_url: str, value: Any) -> Any:
    """Send a value as an argument, and return what the handler was given."""
    seen: list[Any] = []

    @app.job("see")
    async def see(value: Any) -> None:
        seen.append(value)

    async with app:
        await see.enqueue(value)
        await testing.run_worker(app, server_url)
    return seen[0]


@pytest.mark.case("PAY-01")
@pytest.mark.parametrize("value", [{1: "a"}, {None: 1}, {True: 1, "true": 2}, {(1, 2): 3}])
async def test_a_dict_whose_keys_are_no_texts_is_refused_or_comes_back_equal(
    app: EchoMQ, server_url: str, value: Any
):
    try:
        seen = await there_and_back(app, server_url, value)
    except ArgumentsError as error:
        assert 'argument "value"' in str(error)  # noqa: PT017 - or it comes back equal
    else:
        assert seen == value


@pytest.mark.case("PAY-09")
@pytest.mark.parametrize(
    "value", [2**53, 2**53 + 1, -(2**63), 2**64, 10**400, -0.0, 5e-324, 0.1, 9007199254740993]
)
async def test_a_number_comes_back_equal_or_is_refused(app: EchoMQ, server_url: str, value: Any):
    try:
        seen = await there_and_back(app, server_url, value)
    except ArgumentsError:
        assert abs(value) > 2**64 - 1
    else:
        assert (seen, str(seen)) == (value, str(value))


def _nested() -> list[Any]:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


def _circular() -> list[Any]:
    own: list[Any] = []
    own.append(own)
    return own


RESULTS: dict[str, Any] = {
    "a time": lambda: datetime(2026, 1, 1, tzinfo=UTC),
    "bytes": lambda: b"\xff\x00",
    "an object": object,
    "a generator": lambda: (n for n in range(3)),
    "a huge text": lambda: "x" * (RESULT_BYTES + 1),
    "a list that holds itself": _circular,
    "half of a pair": lambda: "\ud800",
    "a deep list": _nested,
    "a set": lambda: {1, 2},
}


@pytest.mark.case("PAY-04")
@pytest.mark.parametrize("what", RESULTS)
async def test_work_is_not_repeated_because_of_what_it_returned(
    app: EchoMQ, server_url: str, what: str
):
    runs: list[int] = []

    @app.job("make", keep_result="1m")
    async def make() -> Any:
        runs.append(1)
        return RESULTS[what]()

    async with app:
        handle = await make.enqueue()
        stats = await testing.run_worker(app, server_url)
        assert (len(runs), stats.completed) == (1, 1)
        try:
            await handle.result(0)
        except ResultUnavailableError:
            assert what not in {"a time", "bytes", "a set"}
        assert await handle.state() is JobState.ABSENT


@pytest.mark.case("PAY-06")
async def test_a_megabyte_of_bytes_grows_by_a_third_and_raw_ones_not_at_all(
    app: EchoMQ, queue: QueueStore, server_url: str
):
    blob = bytes(range(256)) * 2_048

    @app.job("take")
    async def take(blob: bytes) -> None: ...

    async with app:
        handle = await take.enqueue(blob)
        raw = await app.enqueue_raw(blob, queue=queue.name)
        sizes = [len((await view_of(queue, id_)).payload) for id_ in (handle.id, raw.id)]
    assert sizes[0] <= 1.4 * len(blob)
    assert sizes[1] == len(blob)


async def view_of(queue: QueueStore, id_: Any) -> Any:
    view = await queue.inspect(id_)
    assert view is not None
    return view


@pytest.mark.case("PAY-10")
@pytest.mark.parametrize("payload", [b"[]", b"{}", b"[[]]", b'{"a":[]}', b'{"n":9007199254740993}'])
async def test_no_path_of_a_job_touches_its_payload(queue: QueueStore, line: Line, payload: bytes):
    await queue.enqueue([new_job(A, payload=payload), new_job(B, payload=payload, after_ms=0)])
    ends: tuple[Outcome, ...] = (Retried(0, "no"), Snoozed(0), HandedBack(), Buried("no"))
    for end in ends:
        jobs: list[Held] = [*await claim(line, 2, promote=2)]
        assert [job.payload for job in jobs] == [payload] * 2
        await line.settle([(job, end) for job in jobs])

    assert [(await view_of(queue, id_)).payload for id_ in (A, B)] == [payload] * 2
    assert await queue.requeue([A, B]) == [Requeued.OK] * 2
    assert [job.payload for job in await claim(line, 2)] == [payload] * 2


HOSTILE = {
    "digits": b'{"value":' + b"1" * 5_000 + b"}",
    "a deep list": b'{"value":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "half of a pair": rb'{"value":"\ud800"}',
    "no UTF-8": b'{"value":"\xff"}',
    "a list": b"[]",
    "nothing": b"",
    "an end too early": b'{"value":',
    "two values": b'{"value":1}{"value":2}',
    "not a number": b'{"value":NaN}',
}


@pytest.mark.case("PAY-12")
@pytest.mark.parametrize("what", HOSTILE)
async def test_a_hostile_payload_is_a_failed_attempt_and_its_neighbours_run(
    app: EchoMQ, queue: QueueStore, server_url: str, what: str
):
    seen: list[Any] = []

    @app.job("see", max_attempts=1)
    async def see(value: int | str | list[Any]) -> None:
        seen.append(value)

    async with app:
        await queue.enqueue([new_job(A, payload=HOSTILE[what], name="see")])
        await see.enqueue(7)
        await testing.run_worker(app, server_url)

    assert seen == [7]
    view = await view_of(queue, A)
    assert view.state is JobState.DEAD
    assert "see" in (view.last_error or "")


@pytest.mark.case("PAY-13")
async def test_of_a_key_that_comes_twice_the_last_one_counts(
    app: EchoMQ, queue: QueueStore, server_url: str
):
    seen: list[int] = []

    @app.job("see")
    async def see(value: int) -> None:
        seen.append(value)

    async with app:
        await queue.enqueue([new_job(A, payload=b'{"value":1,"value":2}', name="see")])
        await testing.run_worker(app, server_url)
    assert seen == [2]


class UnspeakableError(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


ERRORS: dict[str, Any] = {
    "half of a pair": lambda: ValueError("\ud800 and more"),
    "NUL and escapes": lambda: ValueError("\x00\x1b[2J\r\nforged: line"),
    "a huge message": lambda: ValueError("m" * 5_000_000),
    "no words": UnspeakableError,
    "a group": lambda: ExceptionGroup("many", [ValueError(str(n)) for n in range(1_000)]),
    "a number": lambda: KeyError(10**4_000),
}


@pytest.mark.parametrize("what", ERRORS)
async def test_whatever_an_error_says_it_is_kept_within_its_bounds(
    app: EchoMQ, queue: QueueStore, server_url: str, what: str
):
    @app.job("fail", max_attempts=1)
    async def fail() -> None:
        error: Exception = ERRORS[what]()
        raise error

    async with app:
        handle = await fail.enqueue()
        await testing.run_worker(app, server_url)

    view = await view_of(queue, handle.id)
    assert view.state is JobState.DEAD
    assert 0 < len(view.last_error or "") <= 1_100
    assert len(view.failures or b"") <= 16_384
    json.loads(view.failures or b"")


async def test_a_failed_settlement_of_odd_texts_loses_no_job(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Buried("\ud800\x00\x1b"))
    assert (await look.row(A))["last_error"].startswith("\\ud800")
