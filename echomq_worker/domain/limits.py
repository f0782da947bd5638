"""How much is too much: every bound on what people and programs may send, spelled once."""

from dataclasses import dataclass

BATCH = 1_000
"""The most jobs of one call of any kind: Lua cannot unpack more than about 8,000 values."""
BATCH_BYTES = 8 * 1024 * 1024
"""The most payload that one call enqueues, unless a single job has more."""
PAYLOAD_BYTES = 1 << 20
"""The largest payload, unless the setting says otherwise."""
RESULT_BYTES = 1 << 20
"""The largest result that is kept, as JSON."""
HANDLER_NAME = 200
"""The longest name of a handler, in characters."""
SCHEDULER_NAME = 200
"""The longest name of a scheduler, in characters."""
LANE_NAME = 200
"""The longest name of a lane, in characters."""
LANE_COUNT = 1_000_000_000
"""The largest limit, weight and maximum of a lane."""
CRON_EXPRESSION = 200
"""The longest cron expression, in characters."""
SHORTEST_INTERVAL_MS = 100
"""A shorter interval is work for a loop in a handler, not for a queue."""
MADE_UP = 100
"""The most occurrences of one scheduler that are made up for at once."""
BACKOFF_TEXT = 200
"""The longest backoff that goes with a job, in characters."""
QUEUE_NAME = 128
"""The longest name of a queue, in characters."""
WORKER_NAME = 128
"""The longest name of a worker, in characters."""
ATTEMPTS = 1_000_000
"""The most attempts that a job may be given."""
UNCOUNTED = 1_000
"""After so many claims that did not count, failures count whatever their kind."""
NUMBER_DIGITS = 15
"""Digits that a number on a row has at most: what a Lua number carries exactly."""
ERROR_TEXT = 1_000
"""The longest error text that is kept with a job, in characters."""
TRACEBACK = 3_000
"""The longest traceback that is kept with a job, in characters."""
FAILURES = 5
"""How many failed attempts a job remembers."""
FAILURES_BYTES = 16_384
"""The longest history of failed attempts, in bytes."""
LOG_TEXT = 16_384
"""The longest text in a log line, in characters."""
LOG_EXCEPTION = 2_000
"""The longest text of an exception in a log line, in characters."""
PAUSE_REASON = 500
"""The longest reason of a pause, in characters."""
PAUSED_BY = 200
"""The longest name of whoever paused, in characters."""
QUARANTINED = 1_000
"""How many entries the quarantine of a queue keeps, about."""
QUARANTINED_FIELD = 4_096
"""The longest copy of a field in quarantine, in bytes."""
QUARANTINED_ID = 200
"""The longest copy of an id in quarantine, in bytes."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One line of the README's table."""

    what: str
    most: str
    beyond: str
    """What happens to what is over the limit."""


def _size(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


_ONE_CALL = "the rest waits for the next call"
_REFUSED = "refused before anything is sent"
_MIDDLE = "loses its middle, and says so"
_CUT = "is cut, and says how much is missing"

LIMITS = (
    Limit(
        "payload of a job",
        f"{_size(PAYLOAD_BYTES)} (`ECHOMQ_MAX_PAYLOAD`)",
        f"{_REFUSED}; one too large in `enqueue_many` refuses all",
    ),
    Limit(
        "result that is kept",
        f"{_size(RESULT_BYTES)} of JSON",
        "not kept; the job is completed, not run again, and the log says why",
    ),
    Limit("name of a handler", f"{HANDLER_NAME} visible ASCII characters", "refused when declared"),
    Limit("name of a queue", f"{QUEUE_NAME} of `A-Z a-z 0-9 . _ -`", _REFUSED),
    Limit("name of a worker", f"{WORKER_NAME} of `A-Z a-z 0-9 . _ : @ -`", "refused at start"),
    Limit("name of a scheduler", f"{SCHEDULER_NAME} visible ASCII characters", _REFUSED),
    Limit("priority of a job", "-2^20 to 2^20, a whole number", _REFUSED),
    Limit("name of a lane", f"{LANE_NAME} visible ASCII characters", _REFUSED),
    Limit("cron expression", f"{CRON_EXPRESSION} characters", _REFUSED),
    Limit("interval of a scheduler", f"{SHORTEST_INTERVAL_MS} ms at least", _REFUSED),
    Limit(
        "jitter of a scheduler",
        "a day, and less than from any of its occurrences to the next",
        _REFUSED,
    ),
    Limit(
        "missed occurrences that are made up for at once",
        f"{MADE_UP} (`all(max=...)`), with {_size(BATCH_BYTES)} of arguments together",
        _REFUSED,
    ),
    Limit("backoff that goes with a job", f"{BACKOFF_TEXT} characters as text", _REFUSED),
    Limit("id of a job", "`JOB` and 11 of `0-9 A-Z a-z`, exactly", _REFUSED),
    Limit("attempts of a job", f"{ATTEMPTS:,}", _REFUSED),
    Limit(
        "failures that do not count (`uncounted_on`)",
        f"{UNCOUNTED:,} a job",
        "they count then",
    ),
    Limit("delay, and time from now of a job", "100 years", _REFUSED),
    Limit("`enqueue_many`", "no limit", f"sent in calls of {BATCH:,} jobs or {_size(BATCH_BYTES)}"),
    Limit(
        "claim, settle, extend, promote, take back, requeue, move",
        f"{BATCH:,} jobs a call",
        _ONE_CALL,
    ),
    Limit("error text of a job", f"{ERROR_TEXT:,} characters", _MIDDLE),
    Limit("traceback of a failed attempt", f"{TRACEBACK:,} characters", "loses its beginning"),
    Limit(
        "history of failed attempts",
        f"{FAILURES} attempts, {_size(FAILURES_BYTES)}",
        "old tracebacks go first, then old attempts",
    ),
    Limit("text in a log line", f"{LOG_TEXT:,} characters", _CUT),
    Limit("text of an exception in a log line", f"{LOG_EXCEPTION:,} characters", _CUT),
    Limit("reason of a pause", f"{PAUSE_REASON} characters", "is cut"),
    Limit("number on a row", f"{NUMBER_DIGITS} digits", "counts as no number"),
    Limit(
        "quarantine of a queue",
        f"about {QUARANTINED:,} entries, {_size(QUARANTINED_FIELD)} a field",
        "the oldest go; copies are cut",
    ),
)
"""What the README's table says."""


def limits_table() -> str:
    """Return the table of all limits, as Markdown."""
    rows = [f"| {limit.what} | {limit.most} | {limit.beyond} |" for limit in LIMITS]
    return "\n".join(["| what | most | what is over it |", "|---|---|---|", *rows])
