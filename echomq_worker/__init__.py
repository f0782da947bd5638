"""An asyncio worker daemon and client library for EchoMQ queues on Redis or Valkey."""

from importlib import import_module
from typing import TYPE_CHECKING

from echomq_worker.version import __version__

if TYPE_CHECKING:
    from echomq_worker.app import EchoMQ
    from echomq_worker.client import Call, Job, JobHandle, JobSender, SyncJobHandle
    from echomq_worker.client.lanes import Lanes
    from echomq_worker.client.limits import Limits
    from echomq_worker.client.queues import Queues
    from echomq_worker.client.schedulers import Schedulers
    from echomq_worker.domain.backoff import exponential, fixed, linear, steps
    from echomq_worker.domain.cron import CronRule, cron_rule
    from echomq_worker.domain.job import Admission, JobId
    from echomq_worker.domain.job import State as JobState
    from echomq_worker.domain.lanes import LaneState, LaneView, Reassigned
    from echomq_worker.domain.scheduling.misfire import (
        Misfire,
        all_missed,
        latest_missed,
        no_missed,
    )
    from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerState, SchedulerView
    from echomq_worker.domain.unique import debounce, throttle
    from echomq_worker.domain.views import Order
    from echomq_worker.errors import (
        AccessError,
        ArgumentsError,
        CorruptSchedulerError,
        CronError,
        DuplicateJobError,
        EchoMQError,
        HandlerError,
        InvalidArgumentError,
        InvalidIdError,
        InvalidQueueError,
        JobFailedError,
        LaneFullError,
        OutOfMemoryError,
        PayloadTooLargeError,
        ResultError,
        ResultTimeoutError,
        ResultUnavailableError,
        ServerError,
        SettingsError,
        UnavailableError,
        UnknownHandlerError,
        UnknownSchedulerError,
        UnknownZoneError,
        WireVersionError,
    )
    from echomq_worker.handlers import (
        INJECTED,
        Discard,
        JobContext,
        Next,
        Outgoing,
        Retry,
        Send,
        Sent,
        Snooze,
        State,
    )
    from echomq_worker.handlers.batches import Batch
    from echomq_worker.handlers.standing import Limit

__all__ = [
    "INJECTED",
    "AccessError",
    "Admission",
    "ArgumentsError",
    "Batch",
    "Call",
    "CorruptSchedulerError",
    "CronError",
    "CronRule",
    "Discard",
    "DuplicateJobError",
    "EchoMQ",
    "EchoMQError",
    "HandlerError",
    "InvalidArgumentError",
    "InvalidIdError",
    "InvalidQueueError",
    "Job",
    "JobContext",
    "JobFailedError",
    "JobHandle",
    "JobId",
    "JobSender",
    "JobState",
    "LaneFullError",
    "LaneState",
    "LaneView",
    "Lanes",
    "Limit",
    "Limits",
    "Misfire",
    "Next",
    "Order",
    "OutOfMemoryError",
    "Outgoing",
    "PayloadTooLargeError",
    "PutVerdict",
    "Queues",
    "Reassigned",
    "ResultError",
    "ResultTimeoutError",
    "ResultUnavailableError",
    "Retry",
    "SchedulerState",
    "SchedulerView",
    "Schedulers",
    "Send",
    "Sent",
    "ServerError",
    "SettingsError",
    "Snooze",
    "State",
    "SyncJobHandle",
    "UnavailableError",
    "UnknownHandlerError",
    "UnknownSchedulerError",
    "UnknownZoneError",
    "WireVersionError",
    "__version__",
    "all_missed",
    "cron_rule",
    "debounce",
    "exponential",
    "fixed",
    "latest_missed",
    "linear",
    "no_missed",
    "steps",
    "throttle",
]

# Names are looked up when they are first used: a health probe, which runs every few seconds, or
# `echomq version` must not pay for the whole library.
_HOMES = {
    "AccessError": ("errors", "AccessError"),
    "Admission": ("domain.job", "Admission"),
    "ArgumentsError": ("errors", "ArgumentsError"),
    "Call": ("client", "Call"),
    "CorruptSchedulerError": ("errors", "CorruptSchedulerError"),
    "CronError": ("errors", "CronError"),
    "CronRule": ("domain.cron", "CronRule"),
    "Discard": ("handlers", "Discard"),
    "DuplicateJobError": ("errors", "DuplicateJobError"),
    "EchoMQ": ("app", "EchoMQ"),
    "EchoMQError": ("errors", "EchoMQError"),
    "HandlerError": ("errors", "HandlerError"),
    "INJECTED": ("handlers", "INJECTED"),
    "InvalidArgumentError": ("errors", "InvalidArgumentError"),
    "InvalidIdError": ("errors", "InvalidIdError"),
    "InvalidQueueError": ("errors", "InvalidQueueError"),
    "Job": ("client", "Job"),
    "JobContext": ("handlers", "JobContext"),
    "JobFailedError": ("errors", "JobFailedError"),
    "JobHandle": ("client", "JobHandle"),
    "JobId": ("domain.job", "JobId"),
    "JobSender": ("client", "JobSender"),
    "JobState": ("domain.job", "State"),
    "LaneFullError": ("errors", "LaneFullError"),
    "LaneState": ("domain.lanes", "LaneState"),
    "LaneView": ("domain.lanes", "LaneView"),
    "Lanes": ("client.lanes", "Lanes"),
    "Batch": ("handlers.batches", "Batch"),
    "Limit": ("handlers.standing", "Limit"),
    "Limits": ("client.limits", "Limits"),
    "Misfire": ("domain.scheduling.misfire", "Misfire"),
    "Next": ("handlers", "Next"),
    "Order": ("domain.views", "Order"),
    "OutOfMemoryError": ("errors", "OutOfMemoryError"),
    "Outgoing": ("handlers", "Outgoing"),
    "PayloadTooLargeError": ("errors", "PayloadTooLargeError"),
    "PutVerdict": ("domain.scheduling.records", "PutVerdict"),
    "Queues": ("client.queues", "Queues"),
    "Reassigned": ("domain.lanes", "Reassigned"),
    "ResultError": ("errors", "ResultError"),
    "ResultTimeoutError": ("errors", "ResultTimeoutError"),
    "ResultUnavailableError": ("errors", "ResultUnavailableError"),
    "Retry": ("handlers", "Retry"),
    "SchedulerState": ("domain.scheduling.records", "SchedulerState"),
    "SchedulerView": ("domain.scheduling.records", "SchedulerView"),
    "Schedulers": ("client.schedulers", "Schedulers"),
    "Send": ("handlers", "Send"),
    "Sent": ("handlers", "Sent"),
    "ServerError": ("errors", "ServerError"),
    "SettingsError": ("errors", "SettingsError"),
    "Snooze": ("handlers", "Snooze"),
    "State": ("handlers", "State"),
    "SyncJobHandle": ("client", "SyncJobHandle"),
    "UnavailableError": ("errors", "UnavailableError"),
    "UnknownHandlerError": ("errors", "UnknownHandlerError"),
    "UnknownSchedulerError": ("errors", "UnknownSchedulerError"),
    "UnknownZoneError": ("errors", "UnknownZoneError"),
    "WireVersionError": ("errors", "WireVersionError"),
    "all_missed": ("domain.scheduling.misfire", "all_missed"),
    "cron_rule": ("domain.cron", "cron_rule"),
    "debounce": ("domain.unique", "debounce"),
    "exponential": ("domain.backoff", "exponential"),
    "fixed": ("domain.backoff", "fixed"),
    "latest_missed": ("domain.scheduling.misfire", "latest_missed"),
    "linear": ("domain.backoff", "linear"),
    "no_missed": ("domain.scheduling.misfire", "no_missed"),
    "steps": ("domain.backoff", "steps"),
    "throttle": ("domain.unique", "throttle"),
}


def __getattr__(name: str) -> object:
    """Import a public name on its first use."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    home, spelling = _HOMES[name]
    found: object = getattr(import_module(f"{__name__}.{home}"), spelling)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__})
