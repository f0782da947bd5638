import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.limits import BATCH
from echomq_worker.domain.outcome import Completed, Verdict
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.journal import Journal
from echomq_worker.worker.run import Run
from echomq_worker.worker.settler import Settler
from echomq_worker.worker.stats import Stats
from tests.fakes import FakeClock
from tests.unit.worker_fakes import FakeQueue


def made(count: int) -> tuple[Settler, Hands, Stats, list[Run]]:
    clock, hands, stats = FakeClock(), Hands(), Stats()
    settler, queue, runs = Settler(hands, stats, Journal(clock)), FakeQueue(clock), list[Run]()
    for _ in range(count):
        run = Run(queue.job(), 0)
        run.outcome = Completed()
        hands.take(run)
        hands.end(run)
        settler.put(run)
        runs.append(run)
    return settler, hands, stats, runs


def test_the_oldest_outcomes_are_written_first_and_at_most_a_thousand_at_once():
    settler, _, _, runs = made(BATCH + 5)
    assert settler.batch() == runs[:BATCH]
    assert settler.batch() == runs[BATCH:]
    assert not settler


def test_a_batch_that_was_not_written_comes_first_again_in_its_order():
    settler, _, _, runs = made(4)
    batch = settler.batch()
    late = made(1)[3][0]
    settler.put(late)
    settler.put_back(batch)
    assert settler.batch() == [*runs, late]


def test_a_job_is_let_go_when_the_server_has_its_outcome():
    settler, hands, stats, runs = made(4)
    batch = settler.batch()
    assert hands.held == set(runs)
    with capture_logs() as logs:
        settler.written(batch, [Verdict.OK, Verdict.ALREADY, Verdict.GONE, Verdict.STALE])
    assert not hands.held
    assert (stats.completed, stats.refused) == (2, 2)
    refused = [line["verdict"] for line in logs if line["event"] == "job.refused"]
    assert refused == ["gone", "stale"]


def test_all_jobs_are_counted_and_let_go_even_if_a_line_cannot_be_written():
    settler, hands, stats, runs = made(3)
    batch = settler.batch()

    def breaks(*_: object) -> None:
        msg = "no space left on device"
        raise OSError(msg)

    settler._journal.settled = breaks  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(OSError, match="no space"):
        settler.written(batch, [Verdict.OK] * len(runs))
    assert not hands.held
    assert stats.completed == 3
