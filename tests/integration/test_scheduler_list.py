"""Schedulers are read back and listed."""

from echomq_worker.domain.scheduling.template import Template
from echomq_worker.protocol.scheduler_rows import digests
from echomq_worker.store import QueueStore
from tests.support.look import Look
from tests.support.schedulers import Timetable, cron, every


async def test_what_is_stored_is_read_back(times: Timetable):
    spec = every(
        limit=5,
        jitter="1m",
        misfire="all(max=3, within=1h)",
        overlap="skip",
        revision=7,
        template=Template(
            name="report",
            payload=bytes(range(256)),
            max_attempts=3,
            keep_result_ms=60_000,
            timeout_ms=5_000,
            ttl_ms=9_000,
        ),
    )
    await times.put(spec)

    view = await times.view()
    assert view.spec == spec
    assert (view.revision, view.source, view.digest) == (7, "code", digests(spec)[0])
    assert view.created_ms == view.changed_ms


async def test_the_queue_is_marked_by_its_first_scheduler(queue: QueueStore, look: Look):
    await queue.schedulers.put(every(), force=False, source="api", tz="")

    assert "ext" in await look.hash(look.keys.meta)


async def test_schedulers_are_listed_in_the_order_in_which_they_fire(times: Timetable):
    await times.put(cron("0 0 1 1 *", "later"))
    await times.put(every("sooner"))
    await times.put(every("paused"))
    await times.store.pause("paused")

    names = [view.name for view in await times.store.list(10)]
    assert names == ["sooner", "later", "paused"]
    assert [view.name for view in await times.store.list(1, offset=1)] == ["later"]
    assert await times.store.count() == 3


async def test_a_list_is_read_in_pages(times: Timetable, look: Look):
    for number in range(230):
        await look.do("ZADD", look.keys.schedulers, number, f"s{number:03}")
        await look.do("HSET", look.keys.scheduler(f"s{number:03}"), "every", "1000")

    listed = await times.store.list(220, offset=5)
    assert [view.name for view in listed] == [f"s{number:03}" for number in range(5, 225)]
    await look.do("DEL", look.keys.schedulers)
    for number in range(230):
        await look.do("DEL", look.keys.scheduler(f"s{number:03}"))


async def test_there_is_nothing_under_a_name_that_was_never_declared(times: Timetable):
    assert await times.store.get("s1") is None
    assert await times.store.list(10) == []
    assert (await times.due()).schedulers == ()
