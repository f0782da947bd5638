"""Mint branded ids that are strictly increasing within a process."""

import os
import threading
import weakref
from collections.abc import Callable

from echomq_worker.domain.ids import (
    EPOCH_MS,
    JOB_NAMESPACE,
    NODE_LIMIT,
    SEQUENCE_LIMIT,
    TIME_LIMIT,
    check_namespace,
    encode,
)
from echomq_worker.domain.job import JobId
from echomq_worker.errors import ClockError, InvalidArgumentError

Draw = Callable[[int], int]
"""A die: given n, any whole number from 0 to n - 1 (`random.randrange`, `secrets.randbelow`)."""

NOTHING_MINTED = -1
"""The cell of a minter that has not minted yet."""

_LAST_CELL = TIME_LIMIT * SEQUENCE_LIMIT - 1


def next_cell(last: int, clock_ms: int) -> int:
    """Return the next value of the one cell that minting advances.

    The cell is `milliseconds since the epoch << 12 | sequence`. A fresh millisecond starts at
    sequence 0; within it, or while the clock is behind, the cell counts on, so that a sequence
    that overflows is carried into the time.

    Args:
        last: the cell of the last id, or `NOTHING_MINTED`.
        clock_ms: the clock, in Unix milliseconds.

    Raises:
        ClockError: if the time does not fit into an id any more.
    """
    cell = max((clock_ms - EPOCH_MS) * SEQUENCE_LIMIT, last + 1)
    if cell > _LAST_CELL:
        msg = (
            f"no id can be minted: the clock says {clock_ms} ms, the last id said "
            f"{(last // SEQUENCE_LIMIT) + EPOCH_MS} ms, and the last millisecond of ids is "
            f"{EPOCH_MS + TIME_LIMIT - 1} (in the year 2093); check this machine's clock"
        )
        raise ClockError(msg)
    return cell


class Minter:
    """Mints ids in this process: each greater than the one before it.

    Threads may share a minter. A forked child goes on with a node number that it draws for
    itself, even if its parent was given one: two processes that mint with one number could mint
    one id, and the second job with it would be taken for a repeat of the first.

    Args:
        node: the number of this generator, 0 to 1023, which no other process may use at the same
            time; None draws one.
        clock_ms: tells the time in Unix milliseconds. It may step back: the ids do not.
        dice: draws the node number.

    Raises:
        InvalidArgumentError: if `node` is out of range.
    """

    def __init__(self, node: int | None = None, *, clock_ms: Callable[[], int], dice: Draw) -> None:
        self._node = dice(NODE_LIMIT) if node is None else _checked_node(node)
        self._clock_ms = clock_ms
        self._dice = dice
        self._cell = NOTHING_MINTED
        self._lock = threading.Lock()
        self._forked = False
        _minters.add(self)

    @property
    def node(self) -> int:
        """The node number of the ids that are minted now."""
        with self._lock:
            self._leave_parent()
            return self._node

    def mint(self, namespace: str = JOB_NAMESPACE) -> JobId:
        """Return a new id.

        Args:
            namespace: three capital letters that say what the id names.

        Raises:
            InvalidIdError: if the namespace is not one.
            ClockError: if the clock is past the last id's time.
        """
        if namespace != JOB_NAMESPACE:
            check_namespace(namespace)
        with self._lock:
            if self._forked:
                self._leave_parent()
            self._cell = cell = next_cell(self._cell, self._clock_ms())
            node = self._node
        number = cell >> 12 << 22 | node << 12 | cell & 0xFFF
        return JobId(namespace + encode(number))

    def use_node(self, node: int) -> None:
        """Mint with another node number from now on, such as one that was leased.

        Raises:
            InvalidArgumentError: if it is not 0 to 1023.
        """
        _checked_node(node)
        with self._lock:
            self._forked = False
            self._change_node(node)

    def _leave_parent(self) -> None:
        # Not in the fork hook itself: a hook of the dice (random's own reseeds it) may run after
        # ours. The process id keeps siblings apart that were forked with the same dice.
        if self._forked:
            self._forked = False
            step = (self._dice(NODE_LIMIT - 1) + os.getpid()) % (NODE_LIMIT - 1) + 1
            self._change_node((self._node + step) % NODE_LIMIT)

    def _change_node(self, node: int) -> None:
        # The rest of the millisecond is given up: an id with a lower node would be lower than one
        # that was minted before, and after a fork the parent may go on with this one.
        self._cell |= SEQUENCE_LIMIT - 1
        self._node = node

    def forked(self) -> None:
        """Tell it that this process is a fork of the one that made it."""
        # Another thread of the parent may have held the lock, and does not exist here.
        self._lock = threading.Lock()
        self._forked = True


_minters: weakref.WeakSet[Minter] = weakref.WeakSet()


def _after_fork() -> None:
    for minter in _minters:
        minter.forked()


os.register_at_fork(after_in_child=_after_fork)


def _checked_node(node: int) -> int:
    if not 0 <= node < NODE_LIMIT:
        msg = f"{node} is no node number: expected 0 to {NODE_LIMIT - 1}"
        raise InvalidArgumentError(msg)
    return node
