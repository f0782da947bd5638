"""The kit runs jobs in the order in which a server would hand them out."""

from echomq_worker import EchoMQ, JobState, testing


async def test_jobs_run_by_priority_and_lanes_take_turns() -> None:
    app = EchoMQ()
    ran: list[str] = []

    @app.job("work")
    async def work(what: str) -> None:
        ran.append(what)

    async with testing.inline(app) as kit:
        await work.options(priority=9).enqueue("last")
        for number in range(3):
            await work.options(lane="big").enqueue(f"big {number}")
        await work.options(lane="small").enqueue("small")
        await work.enqueue("flat")
        await work.options(priority=-1).enqueue("first")
        (await kit.run_until_idle()).raise_errors()

    assert ran[0] == "first"
    assert ran[-1] == "last"
    assert ran.index("small") < ran.index("big 1")
    assert ran.index("flat") < ran.index("big 2")


async def test_the_priority_of_a_job_can_be_changed() -> None:
    app = EchoMQ()
    ran: list[str] = []

    @app.job("work")
    async def work(what: str) -> None:
        ran.append(what)

    async with testing.inline(app) as kit:
        await work.enqueue("one")
        two = await work.enqueue("two")
        assert await two.reprioritize(-3)
        assert await two.state() is JobState.PENDING
        await kit.run_until_idle()

    assert ran == ["two", "one"]
    assert not await two.reprioritize(1), "it is gone"
