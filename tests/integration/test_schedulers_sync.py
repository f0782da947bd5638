"""`app.sync.schedulers`: the same for code without an event loop."""

from datetime import UTC, datetime, timedelta

from echomq_worker import EchoMQ, JobState, PutVerdict, SchedulerState
from echomq_worker.store.rights import Role
from tests.support.least_rights import least


def test_code_that_blocks_can_do_the_same(server_url: str, queue_name: str):
    app = EchoMQ(least(server_url, Role.PRODUCER), default_queue=queue_name)
    schedulers = app.sync.schedulers
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)

    assert schedulers.put("d", "x", every="1h", start=start) is PutVerdict.CREATED
    assert [view.name for view in schedulers.list()] == ["d"]
    assert list(schedulers.upcoming("d", 2)) == [start, start + timedelta(hours=1)]
    handle = schedulers.trigger("d")
    assert handle.state() is JobState.PENDING
    assert handle.cancel()

    schedulers.pause("d", reason="why not", by="ada")
    assert (view := schedulers.get("d")) is not None
    assert view.state is SchedulerState.PAUSED
    schedulers.resume("d")
    assert schedulers.remove("d") is True
    assert schedulers.get("d") is None

    assert schedulers.register_repeat("peers", "1h", b"x") is True
    assert [repeat.name for repeat in schedulers.repeats()] == ["peers"]
    assert schedulers.cancel_repeat("peers") is True
    app.sync.close()
