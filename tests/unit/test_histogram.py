from echomq_worker.domain.histogram import Histogram


def test_each_duration_counts_at_the_first_bound_that_it_does_not_exceed():
    histogram = Histogram((1, 10, 1_000))
    for ms in (-1, 0, 1, 2, 10, 11, 1_000, 1_001, 90_000):
        histogram.add(ms)

    assert histogram.by_bound() == {"up to 1ms": 3, "up to 10ms": 2, "up to 1s": 2, "over 1s": 2}
    assert histogram.counts == [3, 2, 2, 2]
    assert (histogram.longest_ms, histogram.total_ms) == (90_000, 92_025)


def test_one_that_has_counted_nothing_says_nothing():
    assert Histogram((1,)).by_bound() == {}
