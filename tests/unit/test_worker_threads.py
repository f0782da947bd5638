import asyncio
import threading
from contextvars import ContextVar

import pytest

from echomq_worker.worker.threads import Threads
from tests.unit.worker_rig import wait_for


async def test_a_call_runs_in_another_thread_and_gives_back_what_it_returns():
    threads = Threads(2)
    assert await threads.run(threading.get_ident) != threading.get_ident()
    threads.close()


async def test_a_call_raises_here_what_it_raises_there():
    threads = Threads(1)

    def fail() -> None:
        msg = "no"
        raise SystemExit(msg)

    with pytest.raises(SystemExit, match="no"):
        await threads.run(fail)
    threads.close()


async def test_at_most_so_many_run_at_once_and_the_rest_waits_its_turn():
    threads, running, most = Threads(2), list[int](), list[int]()
    lock = threading.Lock()

    def work() -> None:
        with lock:
            running.append(1)
            most.append(len(running))
        threading.Event().wait(0.005)
        with lock:
            running.pop()

    await asyncio.gather(*(threads.run(work) for _ in range(8)))
    assert len(most) == 8
    assert max(most) <= 2
    threads.close()


async def test_threads_are_made_only_when_they_are_needed():
    threads = Threads(100)
    for _ in range(5):
        await threads.run(lambda: None)
    assert threads._made == 1
    threads.close()


async def test_a_call_that_nobody_waits_for_any_more_keeps_no_other_from_a_thread_of_its_own():
    threads, go = Threads(2), threading.Event()
    given_up = asyncio.create_task(threads.run(lambda: go.wait(5)))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait((given_up,))
    try:
        async with asyncio.timeout(2):
            assert await threads.run(lambda: "done") == "done"
    finally:
        go.set()
    threads.close()


async def test_a_thread_that_was_given_up_is_free_again_when_it_is_done():
    threads, go = Threads(2), threading.Event()
    given_up = asyncio.create_task(threads.run(lambda: go.wait(5)))
    await asyncio.sleep(0)
    given_up.cancel()
    go.set()
    await wait_for(lambda: threads._under_way == 0)
    await threads.run(lambda: None)
    assert threads._made == 1
    threads.close()


async def test_a_thread_sees_the_context_of_the_task_and_does_not_change_it():
    threads, variable = Threads(1), ContextVar("variable", default="outside")
    variable.set("here")

    def work() -> str:
        seen = variable.get()
        variable.set("there")
        return seen

    assert await threads.run(work) == "here"
    assert variable.get() == "here"
    threads.close()


async def test_threads_do_not_keep_the_process_alive():
    threads = Threads(1)
    assert (await threads.run(threading.current_thread)).daemon
    threads.close()


def test_an_answer_that_comes_after_the_end_of_the_loop_bothers_nobody():
    threads, go, done = Threads(1), threading.Event(), threading.Event()

    def work() -> None:
        go.wait(5)

    async def leave() -> None:
        task = asyncio.create_task(threads.run(work))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    threads._calls.put(None)
    go.set()
    for thread in threading.enumerate():
        if thread.name.startswith("echomq-handler"):
            thread.join(5)
            assert not thread.is_alive()
    done.set()
