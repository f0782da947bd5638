import os
import random
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.ids import EPOCH_MS, NODE_LIMIT, TIME_LIMIT, parse_id
from echomq_worker.domain.minter import NOTHING_MINTED, Minter, next_cell
from echomq_worker.errors import ClockError, InvalidArgumentError, InvalidIdError

NOON_MS = 1_780_226_888_000
CELLS = st.integers(NOTHING_MINTED, TIME_LIMIT * 4096 - 2)


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self, now_ms: int = NOON_MS) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def lowest(_sides: int) -> int:
    return 0


def a_minter(node: int | None = 7, clock: Hands | None = None) -> Minter:
    return Minter(node, clock_ms=clock or Hands(), dice=lowest)


# --- the cell ---------------------------------------------------------------------------------


@given(CELLS, st.integers(0, EPOCH_MS + TIME_LIMIT - 1))
def test_the_cell_always_goes_up_and_is_never_behind_the_clock(last: int, clock_ms: int):
    cell = next_cell(last, clock_ms)
    assert cell > last
    assert (cell >> 12) + EPOCH_MS >= clock_ms


@given(CELLS)
def test_the_cell_goes_up_by_one_while_the_clock_does_not_pass_it(last: int):
    assert next_cell(last, EPOCH_MS) == last + 1


def test_a_fresh_millisecond_starts_at_sequence_zero():
    last = next_cell(NOTHING_MINTED, NOON_MS) + 41
    assert next_cell(last, NOON_MS + 1) & 0xFFF == 0


def test_a_clock_that_was_never_set_still_gives_ids():
    assert next_cell(NOTHING_MINTED, 0) == 0
    assert next_cell(0, 0) == 1


def test_after_the_last_millisecond_of_ids_there_is_a_clear_error():
    last_ms = EPOCH_MS + TIME_LIMIT - 1
    final = next_cell(NOTHING_MINTED, last_ms) | 0xFFF
    with pytest.raises(ClockError, match=r"2093.*check this machine's clock"):
        next_cell(final, last_ms)
    with pytest.raises(ClockError, match="check this machine's clock"):
        next_cell(NOTHING_MINTED, last_ms + 1)


# --- one minter -------------------------------------------------------------------------------


def test_an_id_holds_the_clock_and_the_node():
    minted = parse_id(a_minter(node=7).mint())
    assert (minted.namespace, minted.unix_ms, minted.node, minted.sequence) == (
        "JOB",
        NOON_MS,
        7,
        0,
    )


def test_ids_of_other_namespaces_come_from_the_same_sequence():
    minter = a_minter()
    job, lane = minter.mint(), minter.mint("LAN")
    assert lane.startswith("LAN")
    assert lane[3:] > job[3:]


def test_a_wrong_namespace_is_refused_and_uses_up_nothing():
    minter = a_minter()
    with pytest.raises(InvalidIdError, match="three capital letters"):
        minter.mint("job")
    assert parse_id(minter.mint()).sequence == 0


def test_more_ids_than_fit_into_a_millisecond_run_ahead_of_the_clock():
    minter = a_minter()
    ids = [minter.mint() for _ in range(10_000)]
    assert ids == sorted(set(ids))
    assert parse_id(ids[4095]).unix_ms == NOON_MS
    assert parse_id(ids[4096]).unix_ms == NOON_MS + 1
    assert parse_id(ids[-1]).unix_ms == NOON_MS + 2


@given(st.lists(st.integers(-5_000, 5_000), min_size=2, max_size=60))
def test_ids_go_up_however_the_clock_jumps(jumps: list[int]):
    clock = Hands()
    minter = a_minter(clock=clock)
    ids: list[str] = []
    for jump in jumps:
        clock.now_ms += jump
        ids.append(minter.mint())
    assert ids == sorted(set(ids))


def test_an_error_of_the_clock_leaves_the_minter_usable():
    clock = Hands(EPOCH_MS + TIME_LIMIT)
    minter = a_minter(clock=clock)
    with pytest.raises(ClockError):
        minter.mint()
    clock.now_ms = NOON_MS
    assert parse_id(minter.mint()).unix_ms == NOON_MS


# --- node numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("node", [-1, NODE_LIMIT])
def test_a_node_number_out_of_range_is_refused(node: int):
    with pytest.raises(InvalidArgumentError, match="expected 0 to 1023"):
        a_minter(node)
    with pytest.raises(InvalidArgumentError, match="expected 0 to 1023"):
        a_minter().use_node(node)


def test_without_a_node_number_one_is_drawn():
    asked: list[int] = []

    def dice(sides: int) -> int:
        asked.append(sides)
        return 612

    assert Minter(clock_ms=Hands(), dice=dice).node == 612
    assert asked == [NODE_LIMIT]


@given(st.lists(st.integers(0, NODE_LIMIT - 1), min_size=1, max_size=20))
def test_ids_go_up_whatever_node_number_is_leased_next(nodes: list[int]):
    minter = a_minter(node=1023)
    ids = [minter.mint()]
    for node in nodes:
        minter.use_node(node)
        ids += [minter.mint(), minter.mint()]
        assert parse_id(ids[-1]).node == node
    assert ids == sorted(set(ids))


# --- threads and forks ------------------------------------------------------------------------


def test_threads_share_a_minter_without_a_double():
    minter = Minter(3, clock_ms=lambda: time.time_ns() // 1_000_000, dice=lowest)
    ids: list[list[str]] = [[] for _ in range(8)]
    together = threading.Barrier(len(ids))

    def mint(into: list[str]) -> None:
        together.wait()
        into.extend(minter.mint() for _ in range(5_000))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=mint, args=(into,)) for into in ids]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)

    assert all(each == sorted(each) for each in ids)
    assert len({one for each in ids for one in each}) == 40_000


FORKS = """
import os, random, sys
from echomq_worker.domain.minter import Minter

given = None if sys.argv[1] == "drawn" else int(sys.argv[1])
dice = random.Random(5)  # not reseeded by a fork: every child draws the same
minter = Minter(given, clock_ms=lambda: 1780226888000, dice=dice.randrange)
print("parent", minter.node, minter.mint(), flush=True)
for child in range(3):
    if os.fork() == 0:
        print("child", minter.node, *(minter.mint() for _ in range(20)), flush=True)
        os._exit(0)
    os.wait()
print("parent", minter.node, *(minter.mint() for _ in range(60)), flush=True)
"""


@pytest.mark.parametrize("given_node", ["drawn", "0", "1023"])
def test_a_forked_child_mints_under_a_node_of_its_own(given_node: str):
    done = subprocess.run(  # noqa: S603 - this interpreter and our own source
        [sys.executable, "-c", FORKS, given_node],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["parent", "child", "child", "child", "parent"]
    assert lines[0][1] == lines[-1][1], "the parent keeps its number"
    assert len({line[1] for line in lines}) == 4, "each child draws one of its own"

    ids = [minted for line in lines for minted in line[2:]]
    assert len(set(ids)) == len(ids) == 121
    first = lines[0][2]
    assert all(minted > first for line in lines[1:] for minted in line[2:])


def test_a_fork_that_happens_while_a_thread_mints_does_not_stop_the_child():
    minter = a_minter()
    taken = threading.Event()
    let_go = threading.Event()

    def slow_clock() -> int:
        taken.set()
        let_go.wait(10)
        return NOON_MS

    slow = Minter(1, clock_ms=slow_clock, dice=random.randrange)
    thread = threading.Thread(target=slow.mint)
    thread.start()
    taken.wait(10)
    slow.forked()  # what the hook does in the child, where the thread that holds the lock is gone
    let_go.set()
    assert slow.node != 1
    thread.join()
    assert minter.node == 7


def test_a_number_leased_after_a_fork_does_not_repeat_the_parents_ids():
    minter = a_minter(node=7)
    inherited = minter.mint()
    minter.forked()
    minter.use_node(7)
    assert parse_id(minter.mint()).unix_ms > parse_id(inherited).unix_ms
