"""Hostile neighbours: what they write is data, never code, and costs little."""

import json
import random
import time
from typing import Any

import pytest
import redis
import structlog

from echomq_worker import EchoMQ, JobFailedError, testing
from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Buried
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import InvalidIdError, InvalidQueueError
from echomq_worker.handlers.results import ANY_RESULT
from echomq_worker.observe.render import render_json, render_logfmt
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.scripts import script, script_names
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, claim, enqueue, new_job, settle
from tests.support.logs import configured
from tests.support.look import Look
from tests.support.stores import no_trouble

INJECTIONS = ["]]..redis.call('flushall')..[[", '\');redis.call("del","x")--', "%s{}$1\\0"]
HEALTHY_WITHIN_S = 3
"""Three times what is promised: the machine may be busy with other tests."""


@pytest.mark.case("SEC-14")
@pytest.mark.parametrize("text", INJECTIONS)
async def test_what_looks_like_code_is_a_value(
    queue: QueueStore, line: Line, look: Look, text: str
):
    scripts = [script(name) for name in script_names()]
    assert all(text not in one.source for one in scripts)
    with pytest.raises(InvalidQueueError):
        Keyspace(text)
    with pytest.raises(InvalidIdError):
        await queue.requeue([JobId(text)])
    await queue.enqueue([new_job(A, payload=text.encode(), name=text[:200])])
    await queue.pause(reason=text, by=text)
    await queue.resume()
    (held,) = await claim(line)
    assert (held.payload, held.name) == (text.encode(), text)
    await settle(line, held, Buried(text))
    assert (await look.row(A))["last_error"] == text
    loaded = [one.source for one in scripts]
    assert loaded == [script(name).source for name in script_names()]


@pytest.mark.case("SEC-14")
async def test_names_and_texts_make_no_new_scripts(
    private_server: EmbeddedServer, admin: "redis.Redis"
):
    dice = random.Random(14)
    known: set[int] = set()
    async with Server(ServerOptions(url=private_server.url)) as server:
        for number in range(100):
            queue = server.queue("".join(dice.choices("abcxyz019_.-", k=20)) + str(number))
            line = queue.line(trouble=no_trouble)
            text = dice.choice(INJECTIONS) + dice.randbytes(8).hex()
            await queue.enqueue([new_job(A, payload=text.encode(), name=text)])
            await queue.pause(reason=text, by=text)
            await queue.resume()
            (held,) = await claim(line)
            await settle(line, held, Buried(text))
            await queue.requeue([A])
            await line.aclose()
            known.add(int(admin.info("memory")["number_of_cached_scripts"]))
    assert len(known) == 1
    assert known.pop() <= len(script_names())


@pytest.mark.case("SEC-02", "SEC-03")
async def test_a_stored_failure_is_told_as_text_and_never_becomes_an_object(
    server_url: str, queue: QueueStore, line: Line
):
    hostile = {"exc_module": "os", "exc_type": "system", "exc_message": ["touch /tmp/pwn"]}
    history = json.dumps([hostile, {"type": "os.system", "message": "touch x", "attempt": 1}])
    app = EchoMQ(redis_url=server_url, default_queue=queue.name)
    await queue.enqueue([new_job(A, keep_result_ms=60_000)])
    (held,) = await claim(line)
    await settle(line, held, Buried("os.system", history.encode()))

    async with app:
        with pytest.raises(JobFailedError, match=r"touch x|os\.system") as caught:
            await app.client.handle(A, queue.name, ANY_RESULT).result(0)
    assert type(caught.value) is JobFailedError


@pytest.mark.case("SEC-18")
async def test_many_malformed_rows_and_odd_scores_hold_up_no_healthy_job(
    server_url: str, queue: QueueStore, look: Look
):
    keys, junk = look.keys, [f"junk-{number}" for number in range(3_000)]
    await look.do("ZADD", keys.pending, *(part for name in junk for part in (0, name)))
    await look.do("ZADD", keys.active, *(part for name in junk for part in (1, name)))
    for score, name in (("-inf", "a"), ("inf", "b"), ("1e308", "c"), ("-1e308", "d")):
        await look.do("ZADD", keys.schedule, score, name)
        await look.do("ZADD", keys.active, score, name)
    await look.do("ZADD", keys.pending, 0, b"z" * 1_000_000)
    app = EchoMQ(redis_url=server_url, default_queue=queue.name)
    ran: list[int] = []
    ended: list[float] = []

    @app.job("work")
    async def work(n: int) -> None:
        ran.append(n)
        ended.append(time.monotonic())

    with structlog.testing.capture_logs() as logs:
        async with app:
            for number in range(5):
                await work.enqueue(number)
            began = time.monotonic()
            await testing.run_worker(app, server_url)

    assert sorted(ran) == [0, 1, 2, 3, 4]
    assert max(ended) - began < HEALTHY_WITHIN_S
    assert await look.members(keys.pending) == []
    assert await look.do("XLEN", keys.quarantine) < 1_500
    assert len([line for line in logs if line["event"] == "jobs.set_aside"]) == 1
    assert len(logs) < 50
    await look.do("DEL", keys.active, keys.schedule)


FORGERIES = ["a\nlevel=error forged", "\x1b[2J\x1b]0;title\x07", "a\r\nb", "\u2028", "\x9b31m"]


@pytest.mark.case("SEC-20")
@pytest.mark.parametrize("text", FORGERIES)
@pytest.mark.usefixtures("untouched_logging")
@pytest.mark.parametrize("log_format", ["json", "logfmt", "console"])
def test_no_name_forges_a_line_or_moves_the_cursor(text: str, log_format: str):
    stream = configured(log_format=log_format)
    structlog.get_logger().warning("job.failed", job_name=text, error_message=text)
    written = stream.text
    assert len(written.splitlines()) == 1
    assert "\x1b]" not in written
    assert "\x1b[2J" not in written
    assert "\x9b" not in written


def test_machine_formats_have_no_control_characters():
    line = {"event": "".join(FORGERIES)}
    for rendered in (
        render_json(None, "info", dict(line)),
        render_logfmt(None, "info", dict(line)),
    ):
        assert b"\x1b" not in rendered
        assert b"\n" not in rendered


async def test_a_row_may_have_any_field_of_anybody_and_is_run(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B)
    fields: list[Any] = [part for n in range(2_000) for part in (f"field-{n}", "x" * 100)]
    await look.do("HSET", look.keys.job(A), *fields)
    assert [job.id for job in await claim(line, 2)] == [A, B]
    view = await queue.inspect(A)
    assert view is not None
    assert len(view.fields) > 2_000
