"""How long a job waits after a failed attempt before the next."""

from echomq_worker.domain.backoff.declared import (
    BackoffSpec,
    backoff_from,
    custom,
    exponential,
    fixed,
    linear,
    steps,
)
from echomq_worker.domain.backoff.jitter import Dice, Jitter, JitterSpec
from echomq_worker.domain.backoff.shapes import (
    DEFAULT_BACKOFF,
    Backoff,
    Custom,
    Duration,
    Exponential,
    Linear,
    Steps,
)
from echomq_worker.domain.backoff.text import backoff_text, read_backoff

__all__ = [
    "DEFAULT_BACKOFF",
    "Backoff",
    "BackoffSpec",
    "Custom",
    "Dice",
    "Duration",
    "Exponential",
    "Jitter",
    "JitterSpec",
    "Linear",
    "Steps",
    "backoff_from",
    "backoff_text",
    "custom",
    "exponential",
    "fixed",
    "linear",
    "read_backoff",
    "steps",
]
