import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

import pytest

from echomq_worker import EchoMQ, EchoMQError, JobFailedError
from echomq_worker.domain.job import After, At, NewJob, State
from echomq_worker.domain.views import JobView, KeptResult
from tests.unit.client_fakes import FakeBackend, FakeQueue, StepClock


def made() -> tuple[EchoMQ, FakeBackend, FakeQueue]:
    backend = FakeBackend()
    return EchoMQ(backend=backend, clock=StepClock()), backend, backend.queue("default")


def add(left: int, right: int) -> int:
    return left + right


def loops() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "echomq-sync"}


def test_it_enqueues_what_the_asynchronous_client_would() -> None:
    app, _, queue = made()
    job = app.job("add")(add)
    when = datetime(2027, 1, 1, tzinfo=UTC)
    handles = [
        app.sync.enqueue(job, 1, right=2),
        app.sync.enqueue_in("5s", job, 1, 2),
        app.sync.enqueue_at(when, job, 1, 2),
        *app.sync.enqueue_many([job.call(1, 2), job.call(1, 2).after(1)]),
        app.sync.enqueue_by_name("add", {"left": 1, "right": 2}),
        app.sync.enqueue_raw(b"{}", delay=1),
    ]
    assert [handle.id for handle in handles] == [job.id for job in queue.jobs]
    assert [job.due for job in queue.jobs] == [
        None,
        After(5000),
        At(1_798_761_600_000),
        None,
        After(1000),
        None,
        After(1000),
    ]
    assert queue.jobs[0] == NewJob(handles[0].id, b'{"left":1,"right":2}', name="add")
    assert (handles[0].queue, handles[0].created) == ("default", True)
    app.sync.close()


def test_its_handles_block() -> None:
    app, _, queue = made()
    job = app.job("add")(add)
    handle = app.sync.handle(job, app.sync.enqueue(job, 1, 2).id)
    queue.views[handle.id] = [JobView("default", handle.id, State.PENDING)]
    assert handle.state() is State.PENDING
    assert handle.cancel()
    assert handle.reschedule("5s")
    assert handle.promote()
    assert handle.reprioritize(-5)
    assert queue.priorities == [([handle.id], -5)]
    assert queue.moves == [([handle.id], After(5_000)), ([handle.id], None)]
    assert repr(handle) == f"SyncJobHandle(id='{handle.id}', queue='default', created=False)"
    queue.results[handle.id] = KeptResult("completed", b"3", 0)
    assert handle.result("1s") == 3
    del queue.results[handle.id]
    queue.views[handle.id] = [JobView("default", handle.id, State.DEAD)]
    with pytest.raises(JobFailedError):
        handle.result()
    app.sync.close()


@pytest.mark.case("AIO-08")
def test_threads_share_one_loop_and_one_connection() -> None:
    app, backend, queue = made()
    job = app.job("add")(add)
    before = loops()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(app.sync.enqueue, job, 1), range(40)))
    assert len(queue.jobs) == 40
    assert backend.opened == 1
    assert len(loops() - before) == 1
    app.sync.close()


def test_threads_that_ask_first_at_once_cannot_get_two_clients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, _, _ = made()
    # Making it when asked for is a race, since Python 3.12 with cached_property as well.
    monkeypatch.delattr("echomq_worker.app.SyncClient")
    assert app.sync is app.sync


def test_a_stand_in_leaves_no_thread_behind() -> None:
    app, _, _ = made()
    job = app.job("add")(add)
    before = loops()
    other = FakeBackend()
    with app.stand_in(other, StepClock()):
        app.sync.enqueue(job, 1, 2)
        assert len(loops() - before) == 1
    assert loops() == before
    assert (other.opened, other.closed) == (1, 1)


def test_closing_disconnects_and_the_next_call_connects_again() -> None:
    app, backend, _ = made()
    job = app.job("add")(add)
    app.sync.enqueue(job, 1, 2)
    app.sync.close()
    app.sync.close()
    assert (backend.opened, backend.closed) == (1, 1)
    app.sync.enqueue(job, 1, 2)
    assert backend.opened == 2
    app.sync.close()


@pytest.mark.case("AIO-08")
async def test_it_refuses_to_block_an_event_loop() -> None:
    app, _, queue = made()
    job = app.job("add")(add)
    with pytest.raises(EchoMQError, match=r"await app\.enqueue"):
        app.sync.enqueue(job, 1, 2)
    assert queue.calls == []


PROGRAM = """
import os, sys, warnings
warnings.simplefilter("error")
from echomq_worker import EchoMQ
from tests.unit.client_fakes import FakeBackend

backend = FakeBackend()
app = EchoMQ(backend=backend)
job = app.job("add")(lambda left, right: left)
first = app.sync.enqueue(job, 1, 2)
sys.stdout.flush()
child = os.fork()
handle = app.sync.enqueue(job, 1, 2)
print("child" if child == 0 else "parent", handle.id != first.id, backend.opened, flush=True)
if child:
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.case("AIO-07")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_enqueues_by_a_loop_of_its_own_and_both_processes_end() -> None:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stderr == ""
    assert sorted(done.stdout.splitlines()) == ["child True 2", "parent True 1"]
    assert done.returncode == 0
