"""When a batch begins, and what has become of its members."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.batching import Partition, enough_for_batch, partition
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.errors import InvalidArgumentError
from tests.support.jobs import A, B, C, D, E, F


@pytest.mark.parametrize(
    ("waiting", "elapsed_ms", "begins_with"),
    [(0, 0, 0), (0, 999, 0), (2, 0, 0), (2, 199, 0), (2, 200, 2), (3, 0, 3), (7, 0, 7)],
)
def test_a_batch_begins_when_it_is_full_or_has_waited_long_enough(
    waiting: int, elapsed_ms: int, begins_with: int
):
    assert enough_for_batch(waiting, elapsed_ms, size=3, wait_ms=200) == begins_with


@pytest.mark.parametrize(("size", "wait_ms"), [(0, 1), (-1, 1), (1, 0), (True, 1), (1, 1.5)])
def test_a_size_or_wait_that_is_none_is_refused(size: int, wait_ms: int):
    with pytest.raises(InvalidArgumentError, match="from 1"):
        enough_for_batch(1, 1, size=size, wait_ms=wait_ms)


@given(st.integers(0, 50), st.integers(0, 500), st.integers(1, 20), st.integers(1, 300))
def test_nobody_waits_longer_than_the_wait(waiting: int, elapsed_ms: int, size: int, wait_ms: int):
    count = enough_for_batch(waiting, elapsed_ms, size=size, wait_ms=wait_ms)

    assert count in {0, waiting}
    assert (count == 0) == (waiting == 0 or (waiting < size and elapsed_ms < wait_ms))


def test_each_member_is_in_one_part_and_in_its_order():
    outcomes: list[tuple[Outcome, Verdict]] = [
        (Completed(), Verdict.OK),
        (Retried(1, "no"), Verdict.OK),
        (Buried("no"), Verdict.OK),
        (Snoozed(1), Verdict.OK),
        (Completed(), Verdict.STALE),
        (HandedBack(), Verdict.OK),
    ]
    members = zip((A, B, C, D, E, F), outcomes, strict=True)

    parts = partition([(job_id, *told) for job_id, told in members])

    assert parts == Partition([A], [B, E, F], [C], [D])
