"""The limits of schedulers in `domain/limits.py`: at it all is well, one over it is refused."""

from collections.abc import Callable

import pytest

from echomq_worker.domain.backoff import backoff_text, steps
from echomq_worker.domain.limits import (
    BACKOFF_TEXT,
    CRON_EXPRESSION,
    MADE_UP,
    SCHEDULER_NAME,
    SHORTEST_INTERVAL_MS,
)
from echomq_worker.domain.scheduling.misfire import all_missed
from echomq_worker.domain.scheduling.rule import Every
from echomq_worker.errors import InvalidArgumentError
from tests.unit.scheduling_fakes import DAY, HOUR, spec

STEPS = (BACKOFF_TEXT - len("steps::none") + 1) // 2


def list_of(characters: int) -> str:
    text = "0" + ",0" * ((characters - 1) // 2)
    return text + "0" * (characters - len(text))


LIMITED: list[Callable[[int], object]] = [
    lambda over: spec("n" * (SCHEDULER_NAME + over)),
    lambda over: spec(cron=f"{list_of(CRON_EXPRESSION - 8 + over)} * * * *"),
    lambda over: Every(SHORTEST_INTERVAL_MS - over),
    lambda over: spec(every="1h", jitter=(HOUR - 1 + over) / 1_000),
    lambda over: spec(cron="0 0 1 * *", jitter=(DAY + over) / 1_000),
    lambda over: all_missed(max=MADE_UP + over),
    lambda over: backoff_text(steps([0] * (STEPS + over))),
]


@pytest.mark.parametrize("given", LIMITED)
def test_what_is_at_a_limit_is_taken_and_one_more_is_not(given: Callable[[int], object]):
    given(0)
    with pytest.raises(InvalidArgumentError):
        given(1)
