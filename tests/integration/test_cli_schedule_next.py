"""`echomq schedule next`: when an expression, or a scheduler, fires next."""

import pytest

from echomq_worker import EchoMQ
from tests.support.commands import Ask

NIGHTLY = ("30 2 * * *", "--tz", "Europe/Berlin")
WINTER = "2027-03-26T12:00:00Z"
AUTUMN = "2027-10-30T12:00:00+02:00"


async def test_the_next_times_of_a_scheduler_come_from_the_server(ask: Ask, app: EchoMQ):
    await app.schedulers.put("digest", "mail.digest", cron="0 9 * * *", tz="Europe/Berlin")
    coming = await app.schedulers.upcoming("digest", 3)

    answer = await ask("schedule", "next", "digest", "-n", "3")
    later = await ask("schedule", "next", "digest", "-n", "1", "--after", "2030-01-01T12:00:00Z")

    lines = answer.out.splitlines()
    assert lines[0] == "at 09:00 every day, Europe/Berlin"
    assert [line.split()[0] for line in lines[2:]] == [when.isoformat() for when in coming]
    assert later.out.splitlines()[2].startswith("2030-01-02T09:00:00+01:00  2030-01-02T08:00:00Z")


@pytest.fixture
def nowhere(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Run commands where no server is."""
    monkeypatch.setenv("ECHOMQ_REDIS_URL", "redis://127.0.0.1:1/0")
    return ask


async def test_the_next_times_of_an_expression_need_no_server(nowhere: Ask):
    answer = await nowhere("schedule", "next", "*/15 8-9 * * MON", "-n", "3")

    lines = answer.out.splitlines()
    assert answer.code == 0
    assert lines[0] == "every 15 minutes from 08:00 to 09:59 on Monday, UTC"
    assert lines[1].split() == ["UTC", "FROM", "NOW"]
    assert [line.split()[0][11:] for line in lines[2:]] == ["08:00:00Z", "08:15:00Z", "08:30:00Z"]


async def test_a_day_on_which_clocks_go_forward_is_marked(nowhere: Ask):
    cron = await nowhere("schedule", "next", *NIGHTLY, "-n", "3", "--after", WINTER)
    skip = await nowhere(
        "schedule", "next", *NIGHTLY, "-n", "3", "--after", WINTER, "--dst", "skip"
    )

    assert [line.split("  ")[0] for line in cron.out.splitlines()[2:]] == [
        "2027-03-27T02:30:00+01:00",
        "2027-03-28T03:00:00+02:00",
        "2027-03-29T02:30:00+02:00",
    ]
    assert cron.out.splitlines()[3].endswith("clocks go forward: it runs at 03:00")
    assert cron.out.count("clocks") == 1
    assert skip.out.splitlines()[3].split(maxsplit=3) == [
        *("2027-03-28", "-", "-"),
        "clocks go forward: it does not run at 02:30",
    ]
    assert len(skip.out.splitlines()) == 2 + 3 + 1


async def test_a_day_on_which_clocks_go_back_is_marked(nowhere: Ask):
    words = ("schedule", "next", "30 1,2 * * *", "--tz", "Europe/Berlin", "-n", "3")
    answer = await nowhere(*words, "--after", AUTUMN)
    records = (await nowhere(*words, "--after", AUTUMN, "--json")).records

    lines = answer.out.splitlines()[2:]
    assert lines[1].startswith("2027-10-31T02:30:00+02:00  2027-10-31T00:30:00Z")
    assert lines[1].endswith("clocks go back: it runs once, at the first 02:30")
    assert [record["clock_change"] is not None for record in records] == [False, True, False]
    assert [record["runs"] for record in records] == [True, True, True]


async def test_a_clock_change_beyond_what_is_shown_is_told_below(nowhere: Ask):
    answer = await nowhere("schedule", "next", *NIGHTLY, "-n", "1", "--after", WINTER)

    assert "clocks" not in answer.out
    assert answer.err == (
        "later: 30 2 * * * in Europe/Berlin falls into a clock change on 2027-03-28: "
        "it runs at 03:00\n"
    )


async def test_what_cannot_be_foretold_says_what_was_expected(nowhere: Ask):
    wrong = {
        ("30 2 * *",): "expected 5",
        ("@reboot",): "@reboot",
        ("0 0 30 2 *",): "never",
        ("1-100000000 * * * *",): "1-100000000",
        ("@daily", "--tz", "Europe/Berln"): "did you mean Europe/Berlin",
        ("@daily", "--after", "2027-01-01T00:00:00"): "does not say its time zone",
        ("@daily", "--after", "soon"): "--after 'soon' is no time",
        ("@daily", "-q", "mail"): "expected no --queue",
        ("digest", "--tz", "UTC"): "only beside an expression",
        ("@daily", "-n", "0"): "0",
    }
    for words, text in wrong.items():
        answer = await nowhere("schedule", "next", *words)
        assert (answer.code, answer.out) == (2, "")
        assert text in answer.err


async def test_a_name_needs_the_server(nowhere: Ask):
    assert (await nowhere("schedule", "next", "digest")).code == 69
