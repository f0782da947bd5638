"""What a handler or a producer may say about where a job waits: its priority or its lane."""

from collections.abc import Callable
from typing import Any

import pytest

from echomq_worker import EchoMQ, HandlerError, InvalidArgumentError
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.priority import HIGHEST
from tests.unit.client_fakes import FakeBackend, FakeQueue, StepClock

Made = tuple[EchoMQ, Any, FakeQueue]


def made(**declared: Any) -> Made:
    backend = FakeBackend()
    app = EchoMQ(backend=backend, clock=StepClock())

    @app.job("work", queue="q", batch=None, **declared)
    async def work(tenant: str = "acme", number: int = 0) -> None:
        del tenant, number

    return app, work, backend.queue("q")


def the_tenant(tenant: str = "acme", **_: object) -> str:
    return tenant


def nothing_at_home(tenant: str) -> str | None:
    return None if tenant == "us" else tenant


def takes_nothing() -> str:
    return "x"


def fails(*_args: object, **_kwargs: object) -> str:
    raise ZeroDivisionError


def always(answer: object) -> Callable[..., object]:
    def lane(tenant: str) -> object:
        del tenant
        return answer

    return lane


def places(queue: FakeQueue) -> list[tuple[int | None, str | None]]:
    return [(job.priority, job.lane) for job in queue.jobs]


@pytest.mark.parametrize("priority", [-HIGHEST, -1, 1, HIGHEST])
async def test_a_job_may_have_a_priority(priority: int) -> None:
    app, work, queue = made()
    await work.options(priority=priority).enqueue()
    await app.enqueue_by_name("work", {}, priority=priority)
    await app.enqueue_raw(b"", queue="q", priority=priority)
    await app.enqueue_many([work.options(priority=priority).call()])
    assert places(queue) == [(priority, None)] * 4


async def test_priority_0_is_mint_order_and_not_sent() -> None:
    _, work, queue = made()
    await work.options(priority=0).enqueue()
    await work.enqueue()
    assert places(queue) == [(None, None)] * 2


async def test_a_job_may_wait_in_a_lane() -> None:
    app, work, queue = made()
    await work.options(lane="acme").enqueue()
    await app.enqueue_by_name("work", {}, lane="acme")
    await app.enqueue_raw(b"", queue="q", lane=lane_group("acme"))
    assert [job.group for job in queue.jobs] == [lane_group("acme")] * 3
    assert [job.lane for job in queue.jobs] == ["acme", "acme", lane_group("acme")]


async def test_a_handler_declares_the_priority_of_its_jobs() -> None:
    app, work, queue = made(priority=-5)
    await work.enqueue()
    await app.enqueue_by_name("work", {})
    await work.options(priority=7).enqueue()
    await work.options(lane="acme").enqueue()
    assert places(queue) == [(-5, None), (-5, None), (7, None), (None, "acme")]


async def test_what_a_producer_decides_wins_even_if_it_is_0() -> None:
    app, work, queue = made(priority=-5)
    await work.options(priority=0).enqueue()
    await app.enqueue_by_name("work", {}, priority=0)
    assert places(queue) == [(None, None)] * 2


async def test_a_handler_declares_the_lane_of_its_jobs() -> None:
    _, work, queue = made(lane="mail")
    await work.enqueue()
    await work.options(priority=3).enqueue()
    await work.options(priority=0).enqueue()
    assert places(queue) == [(None, "mail"), (3, None), (None, None)]


async def test_a_lane_follows_from_the_arguments() -> None:
    app, work, queue = made(lane=the_tenant)
    await work.enqueue("ada", number=1)
    await work.enqueue(tenant="bob")
    await work.enqueue()
    await app.enqueue_by_name("work", {"tenant": "eve"})
    await app.enqueue_many(work.call(name) for name in ("x", "y"))
    assert [job.lane for job in queue.jobs] == ["ada", "bob", "acme", "eve", "x", "y"]


async def test_a_lane_that_is_decided_is_not_asked_for() -> None:
    _, work, queue = made(lane=fails)
    await work.options(lane="acme").enqueue()
    assert places(queue) == [(None, "acme")]


async def test_no_lane_means_mint_order() -> None:
    _, work, queue = made(lane=nothing_at_home)
    await work.enqueue("us")
    assert places(queue) == [(None, None)]


@pytest.mark.parametrize(
    ("lane", "hint"),
    [
        (fails, "work: its function for the lane raised ZeroDivisionError"),
        (takes_nothing, "its function for the lane raised TypeError"),
        *((always(answer), "cannot name a lane") for answer in (7, "a b", "", "é", "x" * 201)),
    ],
)
async def test_a_function_that_names_no_lane_is_an_error_at_enqueue(
    lane: Callable[..., Any], hint: str
) -> None:
    _, work, queue = made(lane=lane)
    with pytest.raises(InvalidArgumentError, match=hint):
        await work.enqueue("ada")
    assert queue.jobs == []


@pytest.mark.parametrize("wrong", [HIGHEST + 1, -HIGHEST - 1, 1.0, True, False, "1", [1]])
async def test_what_is_no_priority_is_refused_where_it_is_said(wrong: Any) -> None:
    app, work, queue = made()
    with pytest.raises(InvalidArgumentError, match="expected a whole number"):
        made(priority=wrong)
    with pytest.raises(InvalidArgumentError, match="expected a whole number"):
        work.options(priority=wrong)
    with pytest.raises(InvalidArgumentError, match="expected a whole number"):
        await app.enqueue_by_name("work", {}, priority=wrong)
    assert queue.jobs == []


@pytest.mark.parametrize("wrong", ["", " ", "a b", "é", "a\n", "x" * 201, 7, b"x", True])
async def test_what_names_no_lane_is_refused_where_it_is_said(wrong: Any) -> None:
    app, work, queue = made()
    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        made(lane=wrong)
    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        work.options(lane=wrong)
    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        await app.enqueue_raw(b"", queue="q", lane=wrong)
    assert queue.jobs == []


async def test_a_job_has_a_lane_or_a_priority() -> None:
    app, work, queue = made()
    both: dict[str, Any] = {"lane": "acme", "priority": 3}
    with pytest.raises(InvalidArgumentError, match="both lane and priority"):
        made(**both)
    with pytest.raises(InvalidArgumentError, match="both lane and priority"):
        made(priority=-1, lane=the_tenant)
    with pytest.raises(InvalidArgumentError, match="both lane and priority"):
        work.options(**both)
    with pytest.raises(InvalidArgumentError, match="both lane and priority"):
        await app.enqueue_by_name("work", {}, **both)
    assert queue.jobs == []
    await work.options(lane="acme", priority=0).enqueue()
    assert places(queue) == [(None, "acme")], "0 is no priority"


async def test_of_options_that_are_put_on_each_other_the_last_says_the_place() -> None:
    _, work, queue = made()
    await work.options(lane="acme").options(priority=3).enqueue()
    await work.options(priority=3).options(lane="acme").enqueue()
    await work.options(priority=3).options(max_attempts=2).enqueue()
    assert places(queue) == [(3, None), (None, "acme"), (3, None)]


def test_a_raw_handler_has_no_place_to_declare() -> None:
    app = EchoMQ()
    with pytest.raises(HandlerError, match="given to enqueue_raw"):
        app.raw_handler(queue="q", priority=3)


def test_a_schedulers_jobs_have_a_place() -> None:
    app = EchoMQ()

    @app.every("30s", priority=-4)
    async def urgent() -> None: ...

    @app.every("30s", lane="reports")
    async def report() -> None: ...

    @app.every("30s", name="declared")
    @app.job("plain", priority=9)
    async def plain() -> None: ...

    @app.every("30s", args={"tenant": "acme"})
    @app.job("tenants", lane=the_tenant)
    async def tenants(tenant: str) -> None:
        del tenant

    templates = [declared.spec.template for declared in app.scheduled]
    assert [(each.priority, each.lane) for each in templates] == [
        (-4, None),
        (None, "reports"),
        (9, None),
        (None, "acme"),
    ]
    assert [urgent.name, report.name, plain.name, tenants.name]


@pytest.mark.parametrize(
    "said", [{"priority": HIGHEST + 1}, {"lane": "a b"}, {"priority": 1, "lane": "acme"}]
)
def test_a_place_that_cannot_be_is_refused_where_a_scheduler_is_declared(
    said: dict[str, Any],
) -> None:
    app = EchoMQ()
    with pytest.raises(InvalidArgumentError):

        @app.every("30s", **said)
        async def work() -> None: ...

    assert list(app.scheduled) == []
