"""Nothing that holds a password shows it: no repr, no error, no traceback that comes to a log."""

from traceback import TracebackException

import pytest

from echomq_worker import EchoMQ
from echomq_worker.backend import server_options
from echomq_worker.config import load
from echomq_worker.domain.redaction import Redactor, redact
from echomq_worker.errors import EchoMQError
from echomq_worker.store import Server

RAW = "p@ss/word#%"
QUOTED = "p%40ss%2Fword%23%25"
URLS = [
    f"redis://:{QUOTED}@127.0.0.1:1/0",
    f"redis://ann:{QUOTED}@127.0.0.1:1/0",
    f"rediss://ann:{QUOTED}@127.0.0.1:1/0",
    f"valkeys://ann:{QUOTED}@127.0.0.1:1/0",
    f"redis://127.0.0.1:1/0?password={QUOTED}",
    f"unix://ann:{QUOTED}@/nowhere/s?db=0",
    f"unix:///nowhere/s?password={QUOTED}",
]


def hidden(text: str) -> bool:
    return RAW not in text and QUOTED not in text


@pytest.mark.case("SEC-09")
@pytest.mark.parametrize("url", URLS)
async def test_neither_settings_nor_clients_show_a_password(url: str):
    settings = load({"ECHOMQ_REDIS_URL": url}).settings
    server = Server(server_options(settings))
    things = (settings, settings.redis_url, server.options, server, EchoMQ(redis_url=url))

    assert settings.redis_url.password == RAW
    for thing in things:
        assert hidden(repr(thing) + str(thing))
    assert hidden(settings.redis_url.redacted())
    await server.aclose()


@pytest.mark.case("SEC-09")
@pytest.mark.parametrize("url", URLS)
async def test_an_error_shows_no_password_and_a_log_none_of_its_local_variables(url: str):
    settings = load({"ECHOMQ_REDIS_URL": url}).settings
    server = Server(server_options(settings))
    with pytest.raises(EchoMQError) as caught:
        await server.open()
    await server.aclose()

    assert hidden(str(caught.value) + repr(caught.value))
    plain = "".join(TracebackException.from_exception(caught.value).format())
    with_locals = TracebackException.from_exception(caught.value, capture_locals=True).format()
    assert hidden(plain)
    assert hidden(Redactor(secrets=settings.secrets).text("".join(with_locals)))


@pytest.mark.case("SEC-09")
@pytest.mark.parametrize(
    "text",
    [
        *URLS,
        f"sentinel_kwargs={{'password': '{RAW}'}}",
        f"Sentinel(sentinel_kwargs={{'username': 'ann', 'password': '{RAW}'}}, min_other=0)",
        f"redis+sentinel://ann:{QUOTED}@a:1,b:2/main?sentinel_password={QUOTED}",
        f"redis://ann:{RAW}@127.0.0.1:1/0",
    ],
)
def test_a_text_that_nobody_has_been_told_about_is_redacted_by_its_form(text: str):
    assert hidden(redact(text))
