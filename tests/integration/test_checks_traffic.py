"""The guard on commands counts what a real server is sent."""

import redis

from checks.traffic.watch import load_scripts, script_time_us, watched
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.protocol.scripts import script, script_names

TWICE = "redis.call('SET', KEYS[1], 'ECHO x'); return redis.call('GET', KEYS[1])"


def test_only_what_happens_inside_the_block_is_counted():
    with EmbeddedServer() as server, redis.Redis.from_url(server.url) as client:
        client.set("before", "1")
        with watched(server.url) as traffic:
            client.set("a", "ECHO checks:end-of-scenario")
            client.eval(TWICE, 1, "b")
        client.set("after", "1")

    assert traffic.sent == {"SET": 1, "EVAL": 1}
    assert traffic.inside == {"SET": 1, "GET": 1}


def test_after_loading_no_script_is_new_to_the_server():
    with EmbeddedServer() as server, redis.Redis.from_url(server.url) as client:
        assert script_time_us(server.url) == 0
        load_scripts(server.url)
        known = client.script_exists(*(script(name).sha for name in script_names()))
        assert all(known)
        client.evalsha(script("resume").sha, 4, "q:", "pending", "meta", "bell")
        assert script_time_us(server.url) > 0
