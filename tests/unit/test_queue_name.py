"""Names of queues, and the list of queues that a worker serves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.queue_name import QueueWeight, check_queue_name, parse_queues
from echomq_worker.errors import InvalidArgumentError, InvalidQueueError


def test_a_list_of_queues_keeps_its_order_and_a_weight_of_one_need_not_be_written():
    assert parse_queues("critical:6, default:3,low") == (
        QueueWeight("critical", 6),
        QueueWeight("default", 3),
        QueueWeight("low", 1),
    )


@pytest.mark.parametrize("name", ["", "emq", "a b", "a{b", "ä", "x" * 129, "a\n"])
def test_a_name_that_breaks_the_rule_is_refused(name: str):
    with pytest.raises(InvalidQueueError, match="cannot name a queue"):
        check_queue_name(name)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "missing"),
        ("a,,b", "missing"),
        ("a,b,a", "named twice"),
        ("a:0", "expected 1 to 1000"),
        ("a:1001", "expected 1 to 1000"),
        ("a:", "whole number"),
        ("a:x", "whole number"),
        ("a:-1", "whole number"),
        ("a:1:2", "whole number"),
        (":3", "cannot name a queue"),
        ("emq:3", "cannot name a queue"),
    ],
)
def test_a_bad_list_is_refused_with_its_reason(text: str, reason: str):
    with pytest.raises(InvalidArgumentError, match=reason):
        parse_queues(text)


NAMES = st.from_regex(r"[A-Za-z0-9._-]{1,20}", fullmatch=True).filter(lambda name: name != "emq")
QUEUES = st.lists(
    st.builds(QueueWeight, NAMES, st.integers(1, 1000)),
    min_size=1,
    max_size=5,
    unique_by=lambda queue: queue.name,
)


@given(QUEUES)
def test_a_written_list_reads_back_as_the_same_queues(queues: list[QueueWeight]):
    assert parse_queues(",".join(map(str, queues))) == tuple(queues)
