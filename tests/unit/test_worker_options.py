from typing import Any

import pytest

from echomq_worker.domain.queue_name import QueueWeight
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.worker import WorkerOptions


def test_the_defaults_can_be_used():
    options = WorkerOptions()
    assert (options.thread_count, options.renew_every_ms) == (32, 3_333)
    assert options.stuck_after_ms == 300_000
    assert WorkerOptions(lease_ms=60_000).stuck_after_ms == 360_000


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"queues": ()}, "at least one queue"),
        ({"queues": (QueueWeight("a"), QueueWeight("a", 2))}, "each queue once"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": 1_001}, "concurrency"),
        ({"threads": 0}, "threads"),
        ({"lease_ms": 99}, "lease_ms"),
        ({"renew_ms": 6_667}, "renew_ms"),
        ({"renew_ms": 9}, "renew_ms"),
        ({"stuck_ms": 30_000}, "stuck_ms"),
        ({"beat_ms": 9}, "beat_ms"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"crash_limit": -1}, "crash_limit"),
        ({"job_timeout_ms": -1}, "job_timeout_ms"),
        ({"cancel_grace_ms": 25_001}, "cancel_grace_ms"),
        ({"cancel_grace_ms": -1}, "cancel_grace_ms"),
        ({"promote_batch": 0}, "promote_batch"),
        ({"reap_batch": 1_001}, "reap_batch"),
    ],
)
def test_a_wrong_option_is_named(wrong: dict[str, Any], said: str):
    with pytest.raises(InvalidArgumentError, match=said):
        WorkerOptions(**wrong)


def test_all_wrong_options_are_named_at_once():
    with pytest.raises(InvalidArgumentError, match=r"concurrency.*; lease_ms"):
        WorkerOptions(concurrency=0, lease_ms=1, renew_ms=10)


@pytest.mark.case("LSE-29")
def test_every_worker_is_somebody_else():
    assert WorkerOptions().worker_id != WorkerOptions().worker_id
