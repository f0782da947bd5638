"""A connection cut at any moment of a call: the store asks again, and everything is done once."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest
import pytest_asyncio

from echomq_worker.domain.job import Held
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried, Verdict
from echomq_worker.errors import UnavailableError
from echomq_worker.protocol.scripts import script
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store import queue as store_queue
from echomq_worker.store.line import Line
from tests.support.jobs import LEASE_MS, A, B, C, D, claim, claim_one, enqueue, new_job, settle
from tests.support.look import Look
from tests.support.proxy import Cut, Proxy

LOSSES = [*((cut,) for cut in Cut), tuple(Cut)]


@pytest_asyncio.fixture
async def proxy(server_url: str, look: Look) -> AsyncGenerator[Proxy]:
    """A proxy to a server that knows the scripts already, so that no call needs two tries."""
    for name in ("enqueue", "schedule", "claim", "settle", "beat", "promote", "extend"):
        await look.do("SCRIPT", "LOAD", script(name).source)
    async with Proxy(server_url) as proxy:
        yield proxy


@pytest_asyncio.fixture
async def far_queue(proxy: Proxy, queue_name: str) -> AsyncGenerator[QueueStore]:
    """The queue, through the proxy."""
    async with Server(ServerOptions(url=proxy.url, timeout_ms=1_000)) as server:
        yield server.queue(queue_name)


@pytest_asyncio.fixture
async def far_line(far_queue: QueueStore) -> AsyncGenerator[Line]:
    """A line to the queue, through the proxy."""

    async def soon(error: Exception, tries: int) -> None:
        assert tries < 20, error
        await asyncio.sleep(0.001)

    line = far_queue.line(trouble=soon)
    yield line
    await line.aclose()


async def prepare(queue: QueueStore, line: Line) -> list[Held]:
    """Hold A and B; C is due and D waits."""
    await enqueue(queue, A, B)
    held = list(await claim(line, 2))
    await queue.enqueue([new_job(C, at_ms=1), new_job(D)])
    return held


Call = Callable[[Line, list[Held]], Awaitable[object]]


async def claims(line: Line, held: list[Held]) -> object:
    _ = held
    return [job.id for job in await claim(line, 9, promote=9)]


async def beats(line: Line, held: list[Held]) -> object:
    _ = held
    beat = await line.beat(
        limit=9, lease_ms=LEASE_MS, promote=9, reap=9, crash_limit=5, max_attempts=10
    )
    return [job.id for job in beat.claimed.jobs]


async def settles(line: Line, held: list[Held]) -> object:
    a, b = held
    return (await line.settle([(a, Completed()), (b, Buried("no"))])).verdicts


async def settles_and_claims(line: Line, held: list[Held]) -> object:
    a, b = held
    outcomes = [(a, Retried(60_000, "no")), (b, HandedBack())]
    settled = await line.settle(outcomes, limit=9, lease_ms=LEASE_MS, promote=9)
    return settled.verdicts, [job.id for job in settled.claimed.jobs]


CALLS: list[tuple[str, Call, object, dict[str, list[str]]]] = [
    ("claim", claims, [C, D], {"active": [A, B, C, D]}),
    ("beat", beats, [C, D], {"active": [A, B, C, D]}),
    (
        "settle",
        settles,
        [Verdict.OK, Verdict.OK],
        {"pending": [D], "schedule": [C], "dead": [B]},
    ),
    (
        "settle",
        settles_and_claims,
        ([Verdict.OK, Verdict.OK], [B, C, D]),
        {"active": [B, C, D], "schedule": [A]},
    ),
]


@pytest.mark.parametrize("losses", LOSSES, ids=lambda cuts: "+".join(cut.name for cut in cuts))
@pytest.mark.parametrize(("name", "call", "answer", "places"), CALLS)
async def test_a_workers_call_that_is_cut_off_is_done_once(
    far_queue: QueueStore,
    far_line: Line,
    proxy: Proxy,
    look: Look,
    name: str,
    call: Call,
    answer: object,
    places: dict[str, list[str]],
    losses: tuple[Cut],
):
    held = await prepare(far_queue, far_line)
    proxy.cut(name, *losses)

    assert await call(far_line, held) == answer

    before = await look.dumps()
    await proxy.release()
    assert await look.dumps() == before
    assert {place: sorted(ids) for place, ids in (await look.places()).items()} == places
    counts = await far_queue.counts()
    assert (counts.completed, counts.failed) == ((1, 1) if call is settles else (0, 0))


@pytest.mark.parametrize("losses", LOSSES, ids=lambda cuts: "+".join(cut.name for cut in cuts))
@pytest.mark.parametrize("due_ms", [None, 4_000_000_000_000])
async def test_an_enqueue_that_is_cut_off_goes_in_once(
    far_queue: QueueStore,
    proxy: Proxy,
    look: Look,
    due_ms: int | None,
    losses: tuple[Cut],
):
    proxy.cut("enqueue" if due_ms is None else "schedule", *losses)

    admissions = await far_queue.enqueue([new_job(A, at_ms=due_ms), new_job(B, at_ms=due_ms)])

    assert admissions == ["enqueued" if due_ms is None else "scheduled"] * 2
    before = await look.dumps()
    await proxy.release()
    assert await look.dumps() == before
    assert await look.places() == {"pending" if due_ms is None else "schedule": [A, B]}


@pytest.mark.parametrize("cut", Cut)
async def test_what_is_safe_to_repeat_is_repeated_without_a_word(
    far_queue: QueueStore, proxy: Proxy, look: Look, cut: Cut
):
    await far_queue.enqueue([new_job(A, at_ms=1)])
    proxy.cut("promote", cut)

    await far_queue.promote(9)

    assert await look.places() == {"pending": [A]}


async def test_a_lost_reply_is_noticed_when_its_time_is_up(
    proxy: Proxy, queue_name: str, look: Look
):
    async with Server(ServerOptions(url=proxy.url, timeout_ms=80)) as server:
        queue = server.queue(queue_name)
        await enqueue(queue, A)

        async def hear_again(error: Exception, tries: int) -> None:
            assert isinstance(error, UnavailableError)
            assert tries == 1
            proxy.deaf = False

        line = queue.line(trouble=hear_again)
        await claim(line, 0)
        proxy.deaf = True
        assert (await claim_one(line)).id == A
        await line.aclose()
    assert await look.places() == {"active": [A]}


async def test_a_hint_that_is_overdue_is_no_hint_and_the_next_wait_is_a_new_one(
    proxy: Proxy, queue_name: str, look: Look, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(store_queue, "HINT_EXTRA_MS", 200)
    async with Server(ServerOptions(url=proxy.url, timeout_ms=50)) as server:
        queue = server.queue(queue_name)
        assert not await queue.wait_hint(bell=True, clock=True, timeout_ms=20)
        proxy.deaf = True
        with pytest.raises(UnavailableError):
            await queue.wait_hint(bell=True, clock=True, timeout_ms=20)
        proxy.deaf = False
        assert not await queue.wait_hint(bell=True, clock=True, timeout_ms=20)
        await look.do("RPUSH", look.keys.bell, "1")
        assert await queue.wait_hint(bell=True, clock=True, timeout_ms=20)


async def test_who_waits_for_a_hint_is_told_of_a_cut_and_can_wait_again(
    far_queue: QueueStore, proxy: Proxy
):
    waiting = asyncio.create_task(far_queue.wait_hint(bell=True, clock=True, timeout_ms=900))
    await asyncio.sleep(0.05)
    proxy.go_down()
    with pytest.raises(UnavailableError):
        await waiting

    proxy.come_up()
    waiting = asyncio.create_task(far_queue.wait_hint(bell=True, clock=True, timeout_ms=900))
    await enqueue(far_queue, A)
    assert await waiting


async def test_a_server_that_comes_back_is_used_again(
    far_queue: QueueStore, far_line: Line, proxy: Proxy
):
    await enqueue(far_queue, A)
    proxy.go_down()
    later = asyncio.create_task(far_queue.enqueue([new_job(B)]))
    await asyncio.sleep(0.03)
    proxy.come_up()

    assert await later == ["enqueued"]
    assert await settle(far_line, await claim_one(far_line), Completed()) is Verdict.OK


async def test_calls_that_are_cancelled_mix_up_no_replies(far_queue: QueueStore, proxy: Proxy):
    proxy.delay_s = 0.004
    wires = (far_queue._wire, far_queue.line(trouble=never).wire)
    for wire in wires:
        for number in range(40):
            call = asyncio.create_task(wire.command("PING", f"cancelled {number}"))
            await asyncio.sleep(0.0003 * (number % 20))
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            nonce = secrets.token_bytes(8)
            assert await wire.command("PING", nonce) == nonce
    await wires[1].aclose()


async def never(error: Exception, tries: int) -> None:
    raise AssertionError from error
