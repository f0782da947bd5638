"""What a test can say about what was enqueued."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from unittest.mock import ANY

import pytest

from echomq_worker import EchoMQ, JobState, testing
from echomq_worker.testing import Kit

app = EchoMQ()


@dataclass
class Address:
    street: str
    number: int


@app.job("mail.send", queue="mail")
async def send(to: str, subject: str = "Hello") -> None: ...


@app.job("parcel.ship")
async def ship(address: Address, on: datetime) -> None: ...


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def test_a_job_is_found_by_some_of_its_arguments_by_itself_and_by_its_name():
    async with testing.inline(app) as kit:
        handle = await send.enqueue("a@b.c", subject="Hi")

        found = kit.assert_enqueued(send, to="a@b.c")
        assert kit.assert_enqueued("mail.send", subject="Hi", to="a@b.c") == found
        assert kit.assert_enqueued(send.options(queue="bulk")) == found
        assert (found.id, found.queue, found.name) == (handle.id, "mail", "mail.send")
        assert found.arguments == {"to": "a@b.c", "subject": "Hi"}
        assert (found.delay_ms, found.state) == (0, JobState.PENDING)


async def test_defaults_count_as_arguments():
    async with testing.inline(app) as kit:
        await send.enqueue("a@b.c")
        kit.assert_enqueued(send, subject="Hello")


async def test_arguments_are_compared_as_the_handler_will_receive_them():
    async with testing.inline(app) as kit:
        await ship.enqueue(Address("High Street", 1), NOON)

        kit.assert_enqueued(ship, address=Address("High Street", 1), on=NOON)
        kit.assert_enqueued(ship, address={"street": "High Street", "number": 1})
        kit.assert_enqueued(ship, address=ANY, on="2026-05-01T12:00:00Z")
        kit.assert_not_enqueued(ship, address=Address("High Street", 2))
        kit.assert_not_enqueued(ship, on=object())


async def test_a_missing_job_is_told_with_a_list_of_what_is_there():
    async with testing.inline(app) as kit:
        await send.enqueue("a@b.c")
        await send.options(queue="bulk").enqueue_in("10m", "x" * 500)
        await app.enqueue_raw(b"\x00\x01", queue="peer")

        with pytest.raises(AssertionError) as failed:
            kit.assert_enqueued(send, to="d@e.f")

    lines = str(failed.value).splitlines()
    assert lines[0] == "mail.send(to='d@e.f') was not enqueued. Enqueued:"
    assert lines[1] == "  mail.send(to='a@b.c', subject='Hello') in queue mail: pending"
    assert lines[2].endswith("…, subject='Hello') in queue bulk, to run after 10m: scheduled")
    assert lines[3] == "  raw job b'\\x00\\x01' in queue peer: pending"
    assert len(lines[2]) < 250


async def test_if_nothing_was_enqueued_that_is_said():
    async with testing.inline(app) as kit:
        with pytest.raises(AssertionError, match=r"was not enqueued\. Nothing was enqueued\."):
            kit.assert_enqueued(send)


async def test_an_argument_that_the_handler_does_not_take_is_a_mistake_in_the_test():
    async with testing.inline(app) as kit:
        with pytest.raises(TypeError, match=r'mail\.send takes no argument "too".*to, subject'):
            kit.assert_not_enqueued(send, too="a@b.c")
        with pytest.raises(TypeError, match="takes no argument"):
            kit.assert_enqueued("mail.send", too="a@b.c")


async def test_a_long_list_is_cut():
    async with testing.inline(app) as kit:
        await app.enqueue_many(send.call(str(number)) for number in range(40))
        with pytest.raises(AssertionError) as failed:
            kit.assert_enqueued(ship)
    assert str(failed.value).splitlines()[-1] == "  and 10 more"


async def test_a_job_that_should_not_be_there_is_told():
    async with testing.inline(app) as kit:
        kit.assert_not_enqueued(send)
        await send.enqueue("a@b.c")

        kit.assert_not_enqueued(send, to="d@e.f")
        with pytest.raises(AssertionError, match=r"should not have been enqueued(.|\n)*a@b\.c"):
            kit.assert_not_enqueued(send, to="a@b.c")


async def test_jobs_that_have_run_still_count_until_they_are_forgotten():
    async with testing.inline(app) as kit:
        await send.enqueue("a@b.c")
        await kit.run_until_idle()

        assert kit.assert_enqueued(send).state is JobState.ABSENT
        kit.forget_enqueued()
        kit.assert_not_enqueued(send)


async def test_jobs_are_listed_by_handler_and_by_where_they_are():
    async with testing.inline(app) as kit:
        await send.enqueue("a@b.c")
        await send.enqueue_in("1h", "d@e.f")
        await ship.enqueue_at(kit_now(kit) + timedelta(hours=2), Address("Row", 1), NOON)

        assert [job.name for job in kit.jobs()] == ["mail.send", "mail.send", "parcel.ship"]
        assert len(kit.jobs(send)) == 2
        (late,) = kit.jobs("mail.send", state=JobState.SCHEDULED)
        assert (late.arguments["to"], late.delay_ms) == ("d@e.f", 3_600_000)
        assert kit.jobs(ship)[0].delay_ms == 7_200_000


async def test_a_duplicate_was_not_enqueued():
    async with testing.inline(app) as kit:
        job_id = app.new_job_id()
        await send.options(job_id=job_id).enqueue("a@b.c")
        await send.options(job_id=job_id).enqueue("d@e.f")

        kit.assert_enqueued(send, to="a@b.c")
        kit.assert_not_enqueued(send, to="d@e.f")


async def test_jobs_of_handlers_elsewhere_show_their_json():
    async with testing.inline(app) as kit:
        await app.enqueue_by_name("elsewhere", {"n": 1})

        assert kit.assert_enqueued("elsewhere", n=1).arguments == {"n": 1}


def kit_now(kit: Kit) -> datetime:
    return datetime.fromtimestamp(kit.clock.now_ms() / 1_000, UTC)
