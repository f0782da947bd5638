"""The producers' side: calls with checked arguments, handles on jobs, and a blocking twin."""

from echomq_worker.client.call import Call, CallOptions, SendOptions, TimedOptions
from echomq_worker.client.client import Client
from echomq_worker.client.connections import Connections
from echomq_worker.client.handle import JobHandle
from echomq_worker.client.job import AsyncJob, Job, JobDecorator, JobSender, SyncJob
from echomq_worker.client.ports import Backend, Backends, Queue
from echomq_worker.client.sync import SyncClient
from echomq_worker.client.sync_handle import SyncJobHandle

__all__ = [
    "AsyncJob",
    "Backend",
    "Backends",
    "Call",
    "CallOptions",
    "Client",
    "Connections",
    "Job",
    "JobDecorator",
    "JobHandle",
    "JobSender",
    "Queue",
    "SendOptions",
    "SyncClient",
    "SyncJob",
    "SyncJobHandle",
    "TimedOptions",
]
