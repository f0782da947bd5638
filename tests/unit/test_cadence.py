from echomq_worker.domain.cadence import Cadence

CADENCE = Cadence(beat_ms=1_000)


def test_with_nothing_scheduled_it_sleeps_until_the_next_beat():
    assert CADENCE.wait_ms(now_ms=5_000, next_due_ms=None) == 1_000


def test_it_sleeps_to_the_millisecond_until_the_next_job_is_due():
    assert CADENCE.wait_ms(now_ms=5_000, next_due_ms=5_237) == 237


def test_it_never_sleeps_past_the_beat():
    assert CADENCE.wait_ms(now_ms=5_000, next_due_ms=3_605_000) == 1_000


def test_while_due_jobs_are_left_over_from_a_full_batch_it_does_not_sleep():
    assert CADENCE.wait_ms(now_ms=5_000, next_due_ms=4_990) == 0


def test_a_job_due_in_this_very_millisecond_is_due():
    assert CADENCE.wait_ms(now_ms=5_000, next_due_ms=5_000) == 0
