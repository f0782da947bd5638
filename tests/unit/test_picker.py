from collections import Counter

from echomq_worker.domain.picker import Strict, Weighted
from echomq_worker.domain.queue_name import QueueWeight

QUEUES = (QueueWeight("a", 5), QueueWeight("b"), QueueWeight("c"))


def test_turns_are_spread_as_evenly_as_the_weights_allow():
    picker = Weighted(QUEUES)
    turns = [picker.next({"a", "b", "c"}) for _ in range(7)]
    assert "".join(turns) == "aabacaa"


def test_over_many_turns_each_queue_gets_its_share():
    picker = Weighted((QueueWeight("a", 6), QueueWeight("b", 3), QueueWeight("c", 1)))
    turns = Counter(picker.next({"a", "b", "c"}) for _ in range(1_000))
    assert turns == {"a": 600, "b": 300, "c": 100}


def test_a_queue_without_work_gives_its_turns_to_the_others():
    picker = Weighted(QUEUES)
    turns = Counter(picker.next({"b", "c"}) for _ in range(10))
    assert turns == {"b": 5, "c": 5}


def test_a_queue_that_had_no_work_for_long_saves_up_no_turns():
    picker = Weighted((QueueWeight("a"), QueueWeight("b")))
    for _ in range(100):
        picker.next({"a"})
    turns = [picker.next({"a", "b"}) for _ in range(4)]
    assert sorted(turns) == ["a", "a", "b", "b"]


def test_in_strict_order_a_queue_gets_nothing_while_one_before_it_has_work():
    picker = Strict(QUEUES)
    assert [picker.next({"a", "b", "c"}) for _ in range(9)] == ["a"] * 9
    assert picker.next({"c", "b"}) == "b"
    assert picker.next({"c"}) == "c"
