"""Which settings the workers of the demonstration get."""

from echomq_worker.cli.demo import WORKER_SETTINGS, worker_environment
from echomq_worker.config import load


def test_of_the_settings_given_the_workers_get_those_of_the_server_alone():
    server = {"ECHOMQ_REDIS_URL": "redis://there:1/0", "ECHOMQ_ALLOW_EVICTION": "true"}
    others = {
        "ECHOMQ_MAX_ATTEMPTS": "1",
        "ECHOMQ_CRASH_LIMIT": "1",
        "ECHOMQ_JOB_TIMEOUT": "1ms",
        "ECHOMQ_QUEUES": "mail",
        "ECHOMQ_NODE_ID": "7",
        "ECHOMQ_WORKER_NAME": "me",
        "ECHOMQ_APP": "x:y",
        "ECHOMQ_LEASE": "1h",
    }
    environ = {"PATH": "/bin", **server, **others}

    environment = worker_environment(load(environ), environ)

    assert environment == {"PATH": "/bin", **server, **WORKER_SETTINGS}
