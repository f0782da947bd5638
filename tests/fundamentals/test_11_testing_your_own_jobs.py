"""Tests of your own need no server and no waiting: inside `testing.inline(app)` jobs go to memory,
run when the test says so, through the worker's own code, and time stands still until the test
moves it.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest

from echomq_worker import INJECTED, EchoMQ, State, testing


@dataclass
class Mailer:
    sent: list[str] = field(default_factory=list[str])
    is_down: bool = False

    async def send(self, to: str) -> None:
        if self.is_down:
            msg = "the mail server does not answer"
            raise OSError(msg)
        self.sent.append(to)


app = EchoMQ()  # yours, as your modules have it


@app.lifespan
async def lifespan() -> AsyncGenerator[Mailer]:
    yield Mailer()


@app.job("welcome.send", max_attempts=2, backoff="1m")
async def send_welcome(to: str, mailer: State[Mailer] = INJECTED) -> None:
    await mailer.send(to)


@app.job("survey.send")
async def send_survey(to: str, mailer: State[Mailer] = INJECTED) -> None:
    await mailer.send(to)


async def sign_up(address: str) -> None:
    await send_welcome.enqueue(address)
    await send_survey.enqueue_in("7d", address)


async def test_a_test_looks_at_what_was_enqueued():
    async with testing.inline(app) as kit:
        await sign_up("ada@example.com")

        kit.assert_enqueued(send_welcome, to="ada@example.com")
        kit.assert_not_enqueued(send_welcome, to="bob@example.com")
        assert kit.assert_enqueued(send_survey).delay_ms == 7 * 24 * 60 * 60 * 1_000


async def test_a_test_runs_jobs_and_moves_time():
    mailer = Mailer()
    async with testing.inline(app, state=mailer) as kit:  # instead of what the lifespan yields
        await sign_up("ada@example.com")

        await kit.run_until_idle()
        assert mailer.sent == ["ada@example.com"]

        kit.advance("7d")
        await kit.run_until_idle()
        assert mailer.sent == ["ada@example.com"] * 2


async def test_a_test_sees_retries_and_death():
    mailer = Mailer(is_down=True)
    async with testing.inline(app, state=mailer) as kit:
        await send_welcome.enqueue("ada@example.com")
        assert (await kit.run_until_idle()).retried == 1

        kit.advance("1m")
        assert (await kit.run_until_idle()).buried == 1
        assert kit.dead[0].last_error == "OSError: the mail server does not answer"


async def test_a_test_fails_with_the_error_of_the_handler():
    async with testing.inline(app, state=Mailer(is_down=True)) as kit:
        await send_welcome.enqueue("ada@example.com")
        report = await kit.run_until_idle()

    with pytest.raises(OSError, match="does not answer"):
        report.raise_errors()


def test_a_test_that_is_not_async_does_the_same():
    mailer = Mailer()
    with testing.inline_sync(app, state=mailer) as kit:
        app.sync.enqueue(send_welcome, "ada@example.com")
        kit.run_until_idle().raise_errors()

    assert mailer.sent == ["ada@example.com"]
