"""The address of the server, in every spelling."""

from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.config.redis_url import Address, Kind, parse_redis_url
from echomq_worker.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("given_url", "for_client"),
    [
        ("redis://localhost", "redis://localhost:6379/0"),
        ("redis://", "redis://127.0.0.1:6379/0"),
        ("redis://:7000", "redis://127.0.0.1:7000/0"),
        ("valkey://h:1/2", "redis://h:1/2"),
        ("valkeys://u:p@h", "rediss://u:p@h:6379/0"),
        ("REDISS://h", "rediss://h:6379/0"),
        ("rediss://h?ssl_cert_reqs=none", "rediss://h:6379/0?ssl_cert_reqs=none"),
        ("rediss://h/3?ssl_cert_reqs=CERT_REQUIRED", "rediss://h:6379/3"),
        ("redis://[::1]:7/1", "redis://[::1]:7/1"),
        ("redis://h?db=4", "redis://h:6379/4"),
        ("redis://h?username=u&password=p%26", "redis://u:p%26@h:6379/0"),
        ("redis://u@h", "redis://u@h:6379/0"),
        ("redis://:a%2Fb%40c@h", "redis://:a%2Fb%40c@h:6379/0"),
        ("redis://u:a:b@h", "redis://u:a%3Ab@h:6379/0"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock"),
        ("unix://u:p@/run/redis%20x.sock?db=2", "unix://u:p@/run/redis%20x.sock?db=2"),
        (" redis://h \n", "redis://h:6379/0"),
    ],
)
def test_every_scheme_becomes_one_that_the_client_understands(given_url: str, for_client: str):
    assert parse_redis_url(given_url).for_client() == for_client


def test_the_client_library_reads_back_what_we_spelled():
    from redis.asyncio.connection import parse_url  # noqa: PLC0415 - only this test needs it

    url = parse_redis_url("valkeys://us%40er:p%2Fw%25@example.org:6380/5")
    options = parse_url(url.for_client())

    assert options.get("username") == "us@er"
    assert options.get("password") == "p/w%"
    assert (options.get("host"), options.get("port"), options.get("db")) == ("example.org", 6380, 5)


def test_sentinels_and_clusters_have_several_addresses():
    sentinel = parse_redis_url("redis+sentinel://:p@a:1,b/main/3")
    cluster = parse_redis_url("rediss+cluster://a,b:7001")

    assert sentinel.kind is Kind.SENTINEL
    assert sentinel.addresses == (Address("a", 1), Address("b", 26379))
    assert (sentinel.service, sentinel.db, sentinel.tls) == ("main", 3, False)
    assert cluster.kind is Kind.CLUSTER
    assert cluster.addresses == (Address("a", 6379), Address("b", 7001))
    assert cluster.tls
    assert cluster.redacted() == "rediss+cluster://a:6379,b:7001/0"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("", "begins with one of"),
        ("localhost:6379", "begins with one of"),
        ("http://h", "begins with one of"),
        ("redis:/h", "begins with one of"),
        ("redis://:s3c/r3t@h:6379/0", "%2F"),
        ("redis://:s3c#r3t@h:6379/0", "%23"),
        ("redis://:s3c?r3t@h:6379/0", "%3F"),
        ("redis://:s3c[r3t@h:6379/0", "taken apart"),
        ("redis://h:99999", "port to 65535"),
        ("redis://h:0", "port to 65535"),
        ("redis://h:port", "port to 65535"),
        ("redis://h h", "host or port"),
        ("redis://h/first", "database number"),
        ("redis://h/0/1", "database number"),
        ("redis://h?socket_timeout=3", "ECHOMQ_REDIS_"),
        ("rediss://h?ssl_cert_reqs=maybe", "required or none"),
        ("unix://run/redis.sock", "three slashes"),
        ("unix://", "three slashes"),
        ("unix:///", "three slashes"),
    ],
)
def test_a_bad_url_is_refused_with_what_to_do_and_without_repeating_it(bad: str, reason: str):
    with pytest.raises(InvalidArgumentError, match=reason) as caught:
        parse_redis_url(bad)

    assert "s3c" not in str(caught.value)
    assert "r3t" not in str(caught.value)
    assert caught.value.__cause__ is None


PASSWORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)


@given(PASSWORDS, st.text(st.characters(codec="utf-8"), max_size=10))
def test_any_password_survives_the_way_to_the_client_and_none_is_ever_printed(
    password: str, username: str
):
    url = parse_redis_url(f"redis://{quote(username, safe='')}:{quote(password, safe='')}@zz")

    assert url.password == password
    assert parse_redis_url(url.for_client()) == url
    other = replace(url, password="another")  # noqa: S106
    assert [str(url), repr(url), f"{url}"] == [str(other), repr(other), f"{other}"]


@given(st.text(max_size=40))
def test_whatever_follows_the_scheme_the_answer_is_a_url_or_a_named_error(rest: str):
    try:
        url = parse_redis_url(f"redis://{rest}")
    except InvalidArgumentError:
        return
    assert parse_redis_url(url.for_client()) == url


def test_separate_credentials_win_over_those_of_the_url():
    url = parse_redis_url("redis://u:p@h")

    assert url.with_credentials(None, "other").for_client() == "redis://u:other@h:6379/0"
    assert url.with_credentials("me", None).for_client() == "redis://me:p@h:6379/0"
    assert url.with_credentials(None, None) == url
