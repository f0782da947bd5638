"""No secret gets through."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.redaction import HIDDEN, Redactor, redact


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://:s3cr3t@h:6379/0", "redis://:***@h:6379/0"),
        ("redis://app:s3cr3t@h", "redis://app:***@h"),
        ("rediss://app:s3cr3t@h/1", "rediss://app:***@h/1"),
        ("valkeys://app:s3cr3t@h/1", "valkeys://app:***@h/1"),
        ("redis+sentinel://app:s3cr3t@a:1,b:2/main", "redis+sentinel://app:***@a:1,b:2/main"),
        ("unix://app:s3cr3t@/run/redis.sock", "unix://app:***@/run/redis.sock"),
        ("redis://s3cr3t@h", "redis://***@h"),
        ("redis://:s3c/r3t@h", "redis://:***@h"),
        ("redis://:s3c@r3t@h", "redis://:***@h"),
        ("redis://:s3c#r3t?@h", "redis://:***@h"),
        ("redis://:s3c'r3t@h", "redis://:***@h"),
        ("redis://u:s3cr3t%2F%25@h", "redis://u:***@h"),
        ("redis://h/0?password=s3cr3t", "redis://h/0?password=***"),
        ("redis://h/0?db=1&Password=s3cr3t&x=1", "redis://h/0?db=1&Password=***&x=1"),
        ("see https://user:s3cr3t@example.org/a?b", "see https://user:***@example.org/a?b"),
        ("https://s3cr3t@example.org", "https://***@example.org"),
        ("postgresql+asyncpg://u:s3cr3t@db/x", "postgresql+asyncpg://u:***@db/x"),
        ("amqps://u:s3c/r3t@mq/x", "amqps://u:***@mq/x"),
        ("two: redis://:s3cr3t@a redis://:s3cr3t@b", "two: redis://:***@a redis://:***@b"),
        (
            "Connection(host='h', password='s3cr3t', db=0)",
            "Connection(host='h', password='***', db=0)",
        ),
        ('{"redis_password": "s3cr3t"}', '{"redis_password": "***"}'),
        ("{'api_key': b's3cr3t'}", "{'api_key': b'***'}"),
        ("GET /hook?access_token=s3cr3t HTTP/1.1", "GET /hook?access_token=*** HTTP/1.1"),
        ("host=db password=s3cr3t user=app", "host=db password=*** user=app"),
        ("Pool(user=app, password=s3cr3t, n=2)", "Pool(user=app, password=***, n=2)"),
        ("(host=db, password=s3cr3t)", "(host=db, password=***)"),
        (r"password='it\'s s3cr3t' user=a", "password='***' user=a"),
        (r'{"password": "a\"s3cr3t", "n": 1}', '{"password": "***", "n": 1}'),
        (
            r'body "{\"password\": \"s3cr3t\", \"n\": 1}"',
            r'body "{\"password\": \"***\", \"n\": 1}"',
        ),
        ("{'password': 's3cr3t and then it was cut", "{'password': '***'"),
        ("Authorization: Bearer s3cr3t.abc-def", "Authorization: Bearer ***"),
        ("authorization: Basic czNjcjN0 (403)", "authorization: Basic *** (403)"),
        ("curl -H 'Authorization: Token s3cr3t'", "curl -H 'Authorization: Token ***'"),
        ("401 for bearer s3cr3t.abc", "401 for bearer ***"),
    ],
)
def test_a_secret_in_a_text_is_hidden(text: str, shown: str):
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "job.completed",
        "https://example.org/users/@me",
        "a@b.c wrote: token 3 of 4",
        "redis://127.0.0.1:6379/0 refused the connection",
        'missing argument "token"',
        "attempt token = 3",
        "18:00:04 ratio=0.5 limit: 3",
        "password: none was given",
        "Basic settings; authorization: refused",
        "{'token': 3} has no token=",
    ],
)
def test_a_text_without_secrets_is_left_as_it_is(text: str):
    assert redact(text) == text


PASSWORDS = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="@"), min_size=6, max_size=20
)


@given(st.sampled_from(["redis", "rediss", "valkey", "redis+cluster", "REDIS"]), PASSWORDS)
def test_whatever_the_password_of_a_server_url_it_does_not_show(scheme: str, password: str):
    shown = redact(f"cannot reach {scheme}://app:{password}@zz:6379/0, giving up")

    assert shown == f"cannot reach {scheme}://app:***@zz:6379/0, giving up"


@pytest.mark.parametrize(
    "text",
    [
        "redis://" * 20_000,
        "a" * 200_000 + "://",
        "x://" * 50_000,
        "token=" * 40_000,
        "token='\\" * 30_000,
        "token" * 40_000,
        "bearer " * 30_000,
        "authorization: basic " * 10_000,
    ],
)
def test_a_hostile_text_takes_no_longer_than_its_length(text: str):
    started = time.process_time()
    redact(text + "@'")
    assert time.process_time() - started < 2


def test_a_value_is_hidden_by_its_name_at_any_depth():
    shown = Redactor().value(
        {"Password": "a", "user": {"X-API_KEY": 5, "list": [{"authToken": b"x"}]}, "n": 1}
    )

    assert shown == {
        "Password": HIDDEN,
        "user": {"X-API_KEY": HIDDEN, "list": [{"authToken": HIDDEN}]},
        "n": 1,
    }


def test_an_absent_secret_is_shown_as_absent():
    assert Redactor().value({"password": None, "token": False}) == {
        "password": None,
        "token": False,
    }


def test_the_names_are_the_ones_asked_for():
    assert Redactor(["iban"]).value({"IBAN": "DE00", "token": "t"}) == {
        "IBAN": HIDDEN,
        "token": "t",
    }


def test_a_known_secret_is_hidden_wherever_it_stands_also_percent_encoded():
    redactor = Redactor(secrets=["pa/ss wörd"])

    assert redactor.text("WRONGPASS pa/ss wörd (pa%2Fss%20w%C3%B6rd)") == "WRONGPASS *** (***)"


def test_a_secret_that_is_learnt_later_is_hidden_too():
    redactor = Redactor(secrets=["first-one"])
    redactor.learn(["second/one"])

    assert redactor.text("first-one second/one second%2Fone") == "*** *** ***"


def test_a_short_secret_is_not_searched_for_because_it_hides_in_ordinary_words():
    assert Redactor(secrets=["redis", ""]).text("redis is up") == "redis is up"


def test_objects_become_their_text_and_one_that_cannot_be_shown_is_named():
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError

    values = [Path("/tmp/x"), ValueError("redis://:s3cr3t@h"), Broken()]  # noqa: S108

    assert Redactor().value(values) == [
        "/tmp/x",  # noqa: S108
        "redis://:***@h",
        "<Broken: str() raised RuntimeError>",
    ]


def test_a_structure_that_contains_itself_comes_to_an_end():
    endless: dict[str, object] = {"password": "s3cr3t"}
    endless["again"] = endless

    assert "s3cr3t" not in repr(Redactor().value(endless))


def test_names_without_end_do_not_fill_the_memory():
    redactor = Redactor()
    for number in range(10_000):
        redactor.hides(f"key{number}")

    assert len(redactor._known) <= 4096
