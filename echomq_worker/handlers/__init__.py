"""What a handler is: its signature, its arguments, what it may know and ask for."""

from echomq_worker.handlers.context import JobContext
from echomq_worker.handlers.control import Discard, Retry, Snooze
from echomq_worker.handlers.handler import Handler, named_handler, raw_handler
from echomq_worker.handlers.injection import INJECTED, State
from echomq_worker.handlers.lifespan import Lifespan, LifespanFunction, lifespan_of, no_lifespan
from echomq_worker.handlers.middleware import (
    EnqueueMiddleware,
    Next,
    Outgoing,
    RunMiddleware,
    Send,
    Sent,
    around_run,
    around_send,
)
from echomq_worker.handlers.options import HandlerOptions, handler_options
from echomq_worker.handlers.peers import PeerPayloads
from echomq_worker.handlers.registry import Registry

__all__ = [
    "INJECTED",
    "Discard",
    "EnqueueMiddleware",
    "Handler",
    "HandlerOptions",
    "JobContext",
    "Lifespan",
    "LifespanFunction",
    "Next",
    "Outgoing",
    "PeerPayloads",
    "Registry",
    "Retry",
    "RunMiddleware",
    "Send",
    "Sent",
    "Snooze",
    "State",
    "around_run",
    "around_send",
    "handler_options",
    "lifespan_of",
    "named_handler",
    "no_lifespan",
    "raw_handler",
]
