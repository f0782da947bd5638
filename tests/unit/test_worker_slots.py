from echomq_worker.domain.picker import Strict, Weighted
from echomq_worker.domain.queue_name import parse_queues
from echomq_worker.worker.slots import Slots


class Deal:
    """Slots, and who was woken."""

    def __init__(self, capacity: int, queues: str, *, strict: bool = False) -> None:
        weights = parse_queues(queues)
        picker = Strict(weights) if strict else Weighted(weights)
        names = [weight.name for weight in weights]
        self.slots = Slots(capacity, names, picker)
        self.woken: list[str] = []
        for name in names:
            self.slots.on_dealt(name, lambda name=name: self.woken.append(name))


def test_a_queue_without_work_is_dealt_nothing():
    deal = Deal(4, "a")
    assert deal.slots.take("a") == 0
    assert deal.slots.free == 4


def test_the_only_queue_gets_all_slots():
    deal = Deal(4, "a")
    deal.slots.want("a")
    assert deal.woken == ["a"]
    assert deal.slots.take("a") == 4
    assert deal.slots.free == 0


def test_slots_that_brought_nothing_are_free_again():
    deal = Deal(4, "a")
    deal.slots.want("a")
    deal.slots.take("a")
    deal.slots.put_back("a", 3, more=False)
    assert deal.slots.free == 3
    assert not deal.slots.is_hungry("a")
    deal.slots.release()
    assert deal.slots.free == 4


def test_queues_with_work_share_by_weight():
    deal = Deal(10, "a:6,b:3,c")
    for name in "abc":
        deal.slots.want(name)
    # The first to be wanted had them all before anybody else was.
    assert [deal.slots.take(name) for name in "abc"] == [10, 0, 0]
    deal.slots.put_back("a", 10, more=True)
    assert [deal.slots.take(name) for name in "abc"] == [6, 3, 1]


def test_in_strict_order_the_rest_waits_until_the_first_has_no_more():
    deal = Deal(4, "a,b", strict=True)
    deal.slots.want("a")
    deal.slots.want("b")
    assert (deal.slots.take("a"), deal.slots.take("b")) == (4, 0)
    deal.slots.put_back("a", 1, more=False)
    assert deal.woken[-1] == "b"
    assert deal.slots.take("b") == 1


def test_a_queue_whose_call_is_made_anyway_takes_part_without_being_known_to_have_work():
    deal = Deal(4, "a,b")
    assert deal.slots.take("a", ask_anyway=True) == 4
    deal.slots.put_back("a", 4, more=False)
    assert deal.slots.free == 4


def test_in_strict_order_a_call_made_anyway_gets_nothing_that_belongs_to_another():
    deal = Deal(2, "a,b", strict=True)
    deal.slots.want("a")
    deal.slots.take("a")
    deal.slots.put_back("a", 0, more=True)
    deal.slots.release()
    assert deal.slots.take("b", ask_anyway=True) == 0
    assert deal.slots.take("a") == 1


def test_a_wake_up_that_comes_while_a_call_is_on_its_way_is_not_forgotten():
    deal = Deal(4, "a")
    deal.slots.want("a")
    deal.slots.take("a")
    deal.slots.want("a")
    deal.slots.put_back("a", 4, more=False)
    assert deal.slots.is_hungry("a")
    assert deal.slots.dealt("a") == 4


def test_slots_that_were_dealt_to_a_queue_without_more_work_go_to_the_others():
    deal = Deal(4, "a,b")
    deal.slots.want("a")
    deal.slots.take("a")
    for _ in range(4):
        deal.slots.release()
    deal.slots.take("b", ask_anyway=True)
    assert deal.slots.dealt("a") == 2
    deal.slots.put_back("a", 0, more=False)
    assert deal.slots.dealt("a") == 0
    assert deal.slots.take("b") == 2


def test_after_the_close_nothing_may_be_claimed():
    deal = Deal(4, "a")
    deal.slots.want("a")
    deal.slots.close()
    assert deal.slots.take("a", ask_anyway=True) == 0
    assert deal.slots.dealt("a") == 0, "its desk would go on for ever, without a pause"


def test_no_slot_is_ever_lost_or_made():
    deal = Deal(5, "a:2,b,c:3")
    running = 0
    for turn in range(300):
        name = "abc"[turn % 3]
        deal.slots.want("cba"[turn % 2])
        limit = deal.slots.take(name, ask_anyway=turn % 4 == 0)
        brought = limit if turn % 5 else limit // 2
        running += brought
        deal.slots.put_back(name, limit - brought, more=turn % 7 == 0)
        assert deal.slots.free + running == 5
        while running and (turn % 2 or running == 5):
            deal.slots.release()
            running -= 1
