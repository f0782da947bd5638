"""What every test may ask for: a server, queue names of its own, a raw client.

A test that uses the server is checked afterwards for keys that it should not have left there.
"""

import secrets
from collections.abc import AsyncGenerator, Callable, Generator

import pytest
import pytest_asyncio
import redis
import structlog
from redis.asyncio import Redis as AsyncRedis

from tests.support.docker import engine_must_answer, why_no_engine
from tests.support.leaks import LeakCheck
from tests.support.least_rights import least, unrestricted
from tests.support.servers import NoTestServerError, Source, choose_source

# Where nobody has configured logs, structlog lets rich draw tracebacks with all local variables,
# which takes minutes for a message of megabytes. (The product configures its own.)
structlog.dev.ConsoleRenderer.get_active().exception_formatter = structlog.dev.plain_traceback


def pytest_report_header() -> list[str]:
    """Say which server the tests run on."""
    try:
        return [f"server: {choose_source().description}"]
    except NoTestServerError as error:
        return [f"server: none, {error}"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out for want of Docker."""
    skipped: list[pytest.TestReport] = terminalreporter.getreports("skipped")
    left_out = sum("container" in report.keywords for report in skipped)
    if left_out:
        terminalreporter.write_line(f"{left_out} tests in containers skipped: {why_no_engine()}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests that need a Docker engine where there is none, saying why."""
    reason = why_no_engine()
    if reason is None or engine_must_answer():
        return
    for item in items:
        if item.get_closest_marker("container"):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def server_source(request: pytest.FixtureRequest) -> Source:
    """Where the server of this run comes from."""
    worker = getattr(request.config, "workerinput", {"workerid": "gw0"})["workerid"]
    try:
        return choose_source(int(worker.removeprefix("gw")))
    except NoTestServerError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def server_url(server_source: Source) -> Generator[str]:
    """The URL of a server that this test process has to itself (its database, if it was given)."""
    with server_source.start() as url:
        yield least(url)


@pytest.fixture(scope="session")
def leak_client(server_url: str) -> Generator["redis.Redis"]:
    """The connection by which the leak check looks at the server."""
    client = redis.Redis.from_url(unrestricted(server_url))
    yield client
    client.close()


@pytest.fixture(autouse=True)
def leak_check(request: pytest.FixtureRequest) -> Generator[LeakCheck | None]:
    """Fail a test that leaves keys which it should not, and delete all that it leaves.

    The state of its queues is audited too, as `echomq doctor` does, unless the test breaks it on
    purpose (`@pytest.mark.broken_state("why")`).

    Only for tests that ask for the server, directly or by another fixture. Set up before every
    other fixture of the test, so that it looks when those have finished.
    """
    if "server_url" not in request.fixturenames:
        yield None
        return
    audits = request.node.get_closest_marker("broken_state") is None
    check = LeakCheck(request.getfixturevalue("leak_client"), audits=audits)
    yield check
    if complaints := check.finish():
        pytest.fail("left behind:\n" + "\n".join(complaints), pytrace=False)


@pytest.fixture
def new_queue_name(leak_check: LeakCheck | None, server_url: str) -> Callable[[], str]:
    """Make names of queues that no other test uses; each call gives a new one."""
    _ = server_url
    assert leak_check is not None

    def make() -> str:
        name = f"t-{secrets.token_hex(4)}"
        leak_check.queues.add(name)
        return name

    return make


@pytest.fixture
def queue_name(new_queue_name: Callable[[], str]) -> str:
    """The name of a queue that no other test uses."""
    return new_queue_name()


@pytest_asyncio.fixture
async def redis_client(server_url: str) -> AsyncGenerator["AsyncRedis"]:
    """A raw client for looking at keys; values come back as bytes."""
    url = unrestricted(server_url)
    client = AsyncRedis.from_url(url, decode_responses=False, socket_timeout=None)
    yield client
    await client.aclose()
