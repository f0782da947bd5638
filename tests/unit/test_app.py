import asyncio
import inspect
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from echomq_worker import (
    INJECTED,
    EchoMQ,
    HandlerError,
    InvalidArgumentError,
    InvalidQueueError,
    JobContext,
    Next,
    SettingsError,
    State,
)
from echomq_worker.client import AsyncJob, SyncJob
from echomq_worker.domain.job import JobId
from tests.unit.client_fakes import FakeBackend

CONTEXT = JobContext(id=JobId("JOB0NsUH6L9tuD"), queue="q", name="x", attempt=1, max_attempts=3)


def test_importing_the_package_loads_no_server_client_command_line_or_web_framework() -> None:
    program = (
        "import sys, echomq_worker; app = echomq_worker.EchoMQ(); app.job('x')(lambda n: n); "
        "print(sorted({'click', 'redis', 'hiredis', 'starlette', 'jinja2', 'uvicorn', "
        "'prometheus_client', 'structlog', 'uvloop'} & set(sys.modules)))"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_an_application_reads_no_setting_until_it_needs_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ECHOMQ_MAX_PAYLOAD", "a lot")
    app = EchoMQ()
    job = app.job("x")(lambda: None)
    assert job() is None
    with pytest.raises(SettingsError, match="ECHOMQ_MAX_PAYLOAD"):
        asyncio.run(job.enqueue())


def test_what_is_given_in_code_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECHOMQ_MAX_PAYLOAD", "1KiB")
    monkeypatch.setenv("ECHOMQ_NODE_ID", "7")
    app = EchoMQ()
    assert (app.client.max_payload, app.minter.node) == (1024, 7)
    app = EchoMQ(max_payload="2KiB", node_id=8)
    assert (app.client.max_payload, app.minter.node) == (2048, 8)


def test_an_injected_backend_is_used_without_any_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECHOMQ_MAX_PAYLOAD", "a lot")
    assert EchoMQ(backend=FakeBackend()).client.max_payload == 1 << 20
    assert EchoMQ(backend=FakeBackend(), max_payload=99).client.max_payload == 99


def test_a_wrong_url_is_told_without_its_password() -> None:
    with pytest.raises(SettingsError) as refused:
        _ = EchoMQ("http://user:hunter2@host").client
    assert "hunter2" not in str(refused.value)


async def test_a_registered_function_stays_what_it_was() -> None:
    app = EchoMQ()

    @app.job("email.send")
    async def send(to: str, *, n: int = 1) -> str:
        """Send it."""
        await asyncio.sleep(0)
        return to * n

    @app.job("add")
    def add(left: int, right: int = 2) -> int:
        return left + right

    assert (await send("ab", n=2), add(1)) == ("abab", 3)
    assert (getattr(send, "__name__", None), send.__doc__) == ("send", "Send it.")
    assert list(inspect.signature(send).parameters) == ["to", "n"]
    assert isinstance(send, AsyncJob)
    assert isinstance(add, SyncJob)
    assert repr(add) == "<SyncJob add in queue default>"


def test_options_reach_the_handler() -> None:
    app = EchoMQ(default_queue="main")
    job = app.job("x", timeout="30s", max_attempts=5, backoff=[1, 2], keep_result="1h")(lambda: 1)
    handler = app.registry.named("x")
    assert job.handler is handler
    assert handler.queue == "main"
    assert (handler.options.timeout_ms, handler.options.keep_result_ms) == (30_000, 3_600_000)


def test_what_cannot_be_declared_is_refused_where_it_is_written() -> None:
    app = EchoMQ()
    bare: Any = app.job
    with pytest.raises(HandlerError, match=r'as in @app\.job\("email\.send"\)'):
        bare(lambda: None)
    with pytest.raises(InvalidQueueError):
        app.job("x", queue="a b")
    with pytest.raises(InvalidArgumentError):
        app.job("x", timeout="soon")
    with pytest.raises(InvalidQueueError):
        EchoMQ(default_queue="emq")


def test_a_raw_handler_and_named_payloads_are_found_by_the_registry() -> None:
    app = EchoMQ()

    @app.raw_handler(queue="orders", max_attempts=2)
    async def take(payload: bytes) -> None: ...

    @app.job("order.paid")
    def paid(number: int) -> int:
        return number

    app.queue("orders", name_from="type")

    raw = app.registry.find("orders", None, b"\x00")
    assert raw is not None
    assert (raw.function, raw.options.max_attempts) == (take, 2)
    named = app.registry.find("orders", None, b'{"type":"order.paid","number":7}')
    assert named is not None
    assert named.bind(b'{"type":"order.paid","number":7}', CONTEXT, None)() == paid(7)


class Pool: ...


async def test_a_lifespan_is_shared_by_worker_and_web_application() -> None:
    app = EchoMQ()
    steps: list[str] = []

    @app.lifespan
    async def resources() -> AsyncIterator[Pool]:
        steps.append("open")
        yield Pool()
        steps.append("close")

    @app.job("x")
    async def run(*, pool: State[Pool] = INJECTED) -> Pool:
        return pool

    async with resources() as pool:
        assert isinstance(pool, Pool)
    async with app.lifespan_context() as state:
        app.registry.check_state(state)
        assert await run.handler.bind(b"{}", CONTEXT, state)() is state
    assert steps == ["open", "close"] * 2


async def test_an_application_without_a_lifespan_has_no_state() -> None:
    async with EchoMQ().lifespan_context() as state:
        assert state is None


def test_an_application_has_one_lifespan() -> None:
    app = EchoMQ()

    async def resources() -> AsyncIterator[None]:
        yield

    app.lifespan(resources)
    with pytest.raises(HandlerError, match="has a lifespan already"):
        app.lifespan(resources)


def test_middleware_is_kept_in_the_order_of_declaration() -> None:
    app = EchoMQ()

    @app.middleware
    async def outer(context: JobContext, run: Next) -> object:
        return context, await run()

    @app.middleware
    async def inner(context: JobContext, run: Next) -> object:
        return context, await run()

    assert app.run_layers == [outer, inner]
