"""Over TLS a server must prove who it is, unless somebody says that it need not."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
import structlog

from echomq_worker import EchoMQ, testing
from echomq_worker.errors import UnavailableError
from echomq_worker.store import Server, ServerOptions
from echomq_worker.store.extender import BlockingExtender
from tests.support.jobs import LEASE_MS
from tests.support.private import QUEUE
from tests.support.processes import echomq
from tests.support.tls import HOST, Certificates, issue, must_speak_tls, tls_server

PASSWORD = "sesame-and-secret"  # noqa: S105 - of a server that lives as long as the test
CA_PATH = "ECHOMQ_REDIS_TLS_CA_PATH"
BAD = [
    ("elsewhere", "authority", "not valid for '127.0.0.1'"),
    ("expired", "authority", "has expired"),
    ("own", "authority", "self-signed"),
    ("good", "", "self-signed certificate in certificate chain"),
]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    must_speak_tls()
    return issue(tmp_path_factory.mktemp("certificates"))


@pytest.mark.case("SEC-11")
@pytest.mark.parametrize(("name", "known", "told"), BAD)
async def test_a_certificate_that_proves_nothing_is_refused(
    certificates: Certificates, tmp_path: Path, name: str, known: str, told: str
):
    authority = certificates.authority if known else None
    with tls_server(certificates, name, tmp_path) as url:
        options = ServerOptions(
            url=url, password=PASSWORD, tls_ca_path=authority, connect_timeout_ms=2_000
        )
        server = Server(options)
        with pytest.raises(UnavailableError, match=told) as of_producer:
            await server.open()
        await server.aclose()
        with (
            closing(BlockingExtender(options)) as extender,
            pytest.raises(UnavailableError, match=told) as of_leases,
        ):
            extender.extend(QUEUE, [], LEASE_MS)
    for text in (str(of_producer.value), str(of_leases.value)):
        assert "certificate was refused" in text
        assert CA_PATH in text
        assert "Is it running" not in text
        assert PASSWORD not in text


@pytest.mark.case("SEC-11")
@pytest.mark.parametrize(("name", "option"), [("good", ""), ("own", "?ssl_cert_reqs=none")])
async def test_jobs_run_over_tls_and_whoever_verifies_nothing_is_warned(
    certificates: Certificates,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    option: str,
):
    ran: list[int] = []
    settings = {} if option else {CA_PATH: certificates.authority}
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)
    with tls_server(certificates, name, tmp_path) as bare:
        url = bare + option
        app = EchoMQ(redis_url=url, default_queue=QUEUE)

        @app.job("work")
        async def work(n: int) -> None:
            ran.append(n)

        with structlog.testing.capture_logs() as logs:
            async with app:
                await work.enqueue(7)
                await testing.run_worker(app, url, settings=settings)
    assert ran == [7]
    warned = [line for line in logs if line["event"] == "server.unverified"]
    assert bool(warned) == bool(option)
    assert all(option[1:] in line["hint"] for line in warned)


@pytest.mark.case("SEC-11")
def test_a_worker_that_cannot_verify_its_server_ends_with_what_to_do(
    certificates: Certificates, tmp_path: Path
):
    with tls_server(certificates, "own", tmp_path) as url:
        ended = echomq(
            "run",
            "work:app",
            ECHOMQ_REDIS_URL=url.replace("://", f"://:{PASSWORD}@"),
            ECHOMQ_REDIS_STARTUP_TIMEOUT="300ms",
        )
    assert ended.returncode == 69
    said = ended.stdout + ended.stderr
    assert "certificate was refused" in said
    assert CA_PATH in said
    assert PASSWORD not in said


async def test_a_server_that_speaks_no_tls_is_told_apart_from_one_that_is_away():
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"-ERR not in this language\r\n")
        writer.close()

    async with await asyncio.start_server(answer, HOST, 0) as plain:
        port = plain.sockets[0].getsockname()[1]
        server = Server(ServerOptions(url=f"rediss://{HOST}:{port}/0"))
        with pytest.raises(UnavailableError, match="TLS failed") as caught:
            await server.open()
        await server.aclose()
    assert "Is it running" not in str(caught.value)
