"""Free slots, and which queue may claim for them."""

from collections.abc import Callable, Sequence

from echomq_worker.domain.picker import Picker

Wake = Callable[[], None]


class Slots:
    """Deals free slots to the queues that are believed to have work.

    At every moment each slot is either free, dealt to a queue that has yet to claim for it, in a
    call on its way, or taken by a running job or batch.

    Args:
        capacity: how many jobs, or batches of them, may run at once.
        queues: the names of all queues.
        picker: chooses between queues that have work.
    """

    def __init__(self, capacity: int, queues: Sequence[str], picker: Picker) -> None:
        self.capacity = capacity
        self._free = capacity
        self._picker = picker
        self._alone = queues[0] if len(queues) == 1 else None
        self._dealt = dict.fromkeys(queues, 0)
        self._hungry: set[str] = set()
        self._called: set[str] = set()  # wanted since their last call set out
        self._wakes: dict[str, Wake] = {}
        self._shunned: set[str] = set()
        self._closed = False

    @property
    def free(self) -> int:
        """How many slots no queue has claimed for."""
        return self._free + sum(self._dealt.values())

    @property
    def closed(self) -> bool:
        """True once nothing more may be claimed."""
        return self._closed

    def on_dealt(self, queue: str, wake: Wake) -> None:
        """Have `wake` called when slots are dealt to `queue`."""
        self._wakes[queue] = wake

    def is_hungry(self, queue: str) -> bool:
        """Return whether `queue` is believed to have work."""
        return queue in self._hungry

    def dealt(self, queue: str) -> int:
        """Return how many slots `queue` may claim for now, as far as they are dealt."""
        return 0 if self._closed else self._dealt[queue]

    def want(self, queue: str) -> None:
        """Believe that `queue` has work, and deal it slots as its turn comes."""
        self._hungry.add(queue)
        self._called.add(queue)
        self._deal()

    def take(self, queue: str, *, ask_anyway: bool = False) -> int:
        """Return how many jobs `queue` may claim now. `put_back` ends it.

        Args:
            queue: the queue whose line is about to make a call.
            ask_anyway: let it take part although nothing says that it has work: its call is made
                in any case, so asking costs nothing.
        """
        if self._closed:
            return 0
        if ask_anyway:
            self._hungry.add(queue)
        self._called.discard(queue)
        self._deal(taker=queue)
        count = self._dealt[queue]
        self._dealt[queue] = 0
        return count

    def put_back(self, queue: str, count: int, *, more: bool) -> None:
        """End a call: `count` slots brought nothing; `more` says if there is work left."""
        self._free += count
        if more or queue in self._called:
            self._hungry.add(queue)
        else:
            self._hungry.discard(queue)
            self._free += self._dealt[queue]
            self._dealt[queue] = 0
        self._deal()

    def shun(self, queue: str) -> None:
        """Deal `queue` nothing until it is admitted: its calls fail, and others can use slots."""
        self._shunned.add(queue)
        self._free += self._dealt[queue]
        self._dealt[queue] = 0
        self._deal()

    def admit(self, queue: str) -> None:
        """Deal `queue` slots again."""
        if queue in self._shunned:
            self._shunned.remove(queue)
            self._deal()

    def release(self) -> None:
        """Say that a job has ended. Its queue's next call deals the slot."""
        self._free += 1

    def share(self) -> None:
        """Say that a job goes on in the slot of another: its own is dealt where there is work."""
        self._free += 1
        self._deal()

    def close(self) -> None:
        """Let nothing more be claimed."""
        self._closed = True

    def _deal(self, taker: str | None = None) -> None:
        hungry = self._hungry - self._shunned if self._shunned else self._hungry
        if not self._free or not hungry or self._closed:
            return
        if self._alone is not None:
            self._dealt[self._alone] += self._free
            self._free = 0
            lucky = {self._alone}
        else:
            lucky = self._deal_one_by_one(hungry)
        for queue in lucky:
            if queue != taker:
                self._wakes[queue]()

    def _deal_one_by_one(self, hungry: set[str]) -> set[str]:
        lucky: set[str] = set()
        while self._free:
            queue = self._picker.next(hungry)
            self._dealt[queue] += 1
            self._free -= 1
            lucky.add(queue)
        return lucky
