"""An enqueue under a key that is not answered is asked again, and is done once."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from echomq_worker.domain.job import Admission
from echomq_worker.domain.unique import debounce
from echomq_worker.errors import UnavailableError
from echomq_worker.store import QueueStore, Server, ServerOptions
from tests.support.cut_wire import CutWire, Fault
from tests.support.jobs import A, B, new_job
from tests.support.look import Look
from tests.support.unique import HELD, KEEP, KEY, send


@pytest_asyncio.fixture
async def hurried(server_url: str, queue_name: str) -> AsyncGenerator[QueueStore]:
    """A producer's queue, with less patience than usual."""
    async with Server(ServerOptions(url=server_url, give_up_ms=300)) as server:
        yield server.queue(queue_name)


def cut(queue: QueueStore, *faults: Fault) -> CutWire:
    """Let the next enqueues under a key go wrong."""
    wire = CutWire(queue._wire)  # pyright: ignore[reportArgumentType] - it takes calls as any does
    queue._wire = wire  # pyright: ignore[reportAttributeAccessIssue] - it takes calls as any does
    wire.only = "enqueue_unique"
    wire.next_calls(*faults)
    return wire


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.UNANSWERED])
async def test_a_call_that_was_cut_off_is_asked_again_and_told_what_it_did(
    hurried: QueueStore, look: Look, fault: Fault
):
    cut(hurried, fault)
    assert await send(hurried, A) == (Admission.ENQUEUED, A)
    assert await look.places() == {"pending": [A]}


async def test_the_second_try_of_a_refused_job_gives_the_same_answer(
    hurried: QueueStore, queue: QueueStore
):
    await send(queue, A, KEEP)
    cut(hurried, Fault.UNANSWERED)
    assert await send(hurried, B) == (HELD, A)


async def test_a_try_that_comes_late_postpones_nothing_again(
    hurried: QueueStore, queue: QueueStore, look: Look
):
    quiet = debounce("1m")
    await send(queue, A, quiet)
    wire = cut(hurried, Fault.LATE)
    await send(hurried, new_job(B, payload=b"newer"), quiet)
    await send(queue, new_job(B, payload=b"newest"), quiet)
    before = await look.scores(look.keys.schedule)

    await wire.deliver_late()

    assert await look.scores(look.keys.schedule) == before
    assert (await look.row(A))["payload"] == "newest"


async def test_after_its_patience_the_caller_is_told_that_nothing_is_known(
    hurried: QueueStore, queue: QueueStore, look: Look
):
    cut(hurried, *[Fault.LOST] * 50)
    with pytest.raises(UnavailableError):
        await send(hurried, A)
    assert await queue.operator.holder(KEY) is None
    assert await look.places() == {}
