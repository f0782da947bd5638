"""Every key of a queue, spelled once, with its type and what its score means.

All keys of a queue share the hash tag `{queue}`, so that they live in one cluster slot and one
ACL pattern covers them.
"""

import re
from dataclasses import dataclass

from echomq_worker.domain.ids import parse_group, parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.errors import InvalidArgumentError

DEDUP_ID = re.compile(r"[A-Za-z0-9._-]{1,255}", re.ASCII)
JOB_SUBKEYS = frozenset({"logs", "lock", "dependencies", "processed", "failed", "unsuccessful"})

VERSION_KEY = "{emq}:version"
"""String: the wire version that everybody on this server speaks."""

NODES_KEY = "{emq}:nodes"
"""Sorted set: node numbers leased by workers, scored by when the lease ends (ms)."""


def check_dedup_id(dedup_id: str) -> str:
    """Return `dedup_id` if it may be one; raise `InvalidArgumentError` otherwise."""
    if not DEDUP_ID.fullmatch(dedup_id):
        msg = f"{dedup_id!r} is no deduplication id: use 1 to 255 of A-Z a-z 0-9 . _ -"
        raise InvalidArgumentError(msg)
    return dedup_id


@dataclass(frozen=True, slots=True)
class Keyspace:
    """The keys of one queue. Raises `InvalidQueueError` for a name that breaks the rule."""

    queue: str

    def __post_init__(self) -> None:
        check_queue_name(self.queue)

    @property
    def root(self) -> str:
        """What every key of the queue begins with: `emq:{queue}:`."""
        return f"emq:{{{self.queue}}}:"

    # --- the base wire -------------------------------------------------------------------

    @property
    def pending(self) -> str:
        """Sorted set: jobs that may be claimed now; every score is 0, so mint order decides."""
        return self.root + "pending"

    @property
    def active(self) -> str:
        """Sorted set: jobs under a lease, scored by when the lease ends (ms, server clock)."""
        return self.root + "active"

    @property
    def schedule(self) -> str:
        """Sorted set: jobs that wait for their time, scored by it (ms, server clock)."""
        return self.root + "schedule"

    @property
    def dead(self) -> str:
        """Sorted set: jobs that failed for good; every score is 0."""
        return self.root + "dead"

    @property
    def meta(self) -> str:
        """Hash: settings of the queue (`paused`, `max`, `concurrency`, our `ext`)."""
        return self.root + "meta"

    @property
    def wake(self) -> str:
        """List: wake tokens for lane consumers, at most 64."""
        return self.root + "wake"

    @property
    def ring(self) -> str:
        """List: the lanes that can be served now, in rotation."""
        return self.root + "ring"

    @property
    def lanes_paused(self) -> str:
        """Set: lanes stopped by an operator."""
        return self.root + "paused"

    @property
    def lane_limits(self) -> str:
        """Hash: lane → its concurrency ceiling."""
        return self.root + "glimit"

    @property
    def lane_actives(self) -> str:
        """Hash: lane → how many of its jobs are active."""
        return self.root + "gactive"

    @property
    def lane_weights(self) -> str:
        """Hash: lane → its weight in the rotation."""
        return self.root + "gweight"

    @property
    def outbox(self) -> str:
        """List: reports to parents in other queues, NUL-joined."""
        return self.root + "flow:outbox"

    @property
    def limiter(self) -> str:
        """String with expiry: how many claims the rate limit has counted in this window."""
        return self.root + "limiter"

    @property
    def repeat(self) -> str:
        """Sorted set: repeating registrations, scored by their next fire time (ms)."""
        return self.root + "repeat"

    @property
    def completed_count(self) -> str:
        """Hash with `count`: how many jobs have completed."""
        return self.root + "metrics:completed"

    @property
    def failed_count(self) -> str:
        """Hash with `count`: how many jobs have died."""
        return self.root + "metrics:failed"

    @property
    def events(self) -> str:
        """Channel: what happens to jobs, for whoever listens."""
        return self.root + "events"

    def job(self, job_id: str) -> str:
        """Hash: the row of one job. Raises `InvalidIdError` for anything but a branded id."""
        return f"{self.root}job:{parse_id(job_id).text}"

    def job_part(self, job_id: str, part: str) -> str:
        """Return a sub-key of a job: its logs, lock, dependencies, or children's reports."""
        if part not in JOB_SUBKEYS:
            msg = f"a job has no part {part!r}; it has {', '.join(sorted(JOB_SUBKEYS))}"
            raise InvalidArgumentError(msg)
        return f"{self.job(job_id)}:{part}"

    def lane(self, group: str) -> str:
        """Sorted set: the waiting jobs of one lane; every score is 0."""
        return f"{self.root}g:{parse_group(group)}:pending"

    def dedup(self, dedup_id: str) -> str:
        """String: the id of the job that holds this deduplication id."""
        return f"{self.root}de:{check_dedup_id(dedup_id)}"

    def repeat_record(self, name: str) -> str:
        """Hash: the interval and template of one repeating registration."""
        return f"{self.repeat}:{name}"

    # --- our own extension keys ----------------------------------------------------------

    @property
    def bell(self) -> str:
        """List: wake tokens for flat work, capped."""
        return self.root + "bell"

    @property
    def clock(self) -> str:
        """List: a nudge for the watcher: the head of `schedule` or `schedulers` is nearer."""
        return self.root + "clock"

    @property
    def pump(self) -> str:
        """String with expiry: which worker's pump is the watcher."""
        return self.root + "pump"

    @property
    def quarantine(self) -> str:
        """Stream, capped: malformed rows and members, each with a reason and a bounded copy."""
        return self.root + "quarantine"

    def aside(self, job_id: str) -> str:
        """Whatever it was, with expiry: the malformed row of a job, out of everybody's way."""
        return f"{self.root}aside:{parse_id(job_id).text}"

    @property
    def log(self) -> str:
        """Stream, capped: lifecycle events."""
        return self.root + "log"

    @property
    def workers(self) -> str:
        """Sorted set: workers of this queue, scored by their last beat (ms, server clock)."""
        return self.root + "workers"

    @property
    def completed(self) -> str:
        """Sorted set: jobs whose result is kept, scored by when they finished (ms)."""
        return self.root + "completed"

    @property
    def dead_at(self) -> str:
        """Sorted set: dead jobs, scored by when they died (ms)."""
        return self.root + "dead:at"

    @property
    def schedulers(self) -> str:
        """Sorted set: every scheduler, scored by when it fires next (ms); `+inf` while it rests."""
        return self.root + "schedulers"

    def scheduler(self, name: str) -> str:
        """Hash: the declaration of one scheduler, and how far it has come."""
        return f"{self.root}scheduler:{name}"

    def scheduler_aside(self, name: str) -> str:
        """Whatever it was, with expiry: what stood in the place of a scheduler."""
        return f"{self.root}aside:scheduler:{name}"

    @property
    def lane_names(self) -> str:
        """Hash: lane → the name that it was made from."""
        return self.root + "lane:names"

    @property
    def lane_pauses(self) -> str:
        """Hash: lane that is paused → since when (ms), why and by whom."""
        return self.root + "lane:pauses"

    @property
    def lanes_first(self) -> str:
        """Set: lanes that are served before the others."""
        return self.root + "lane:first"

    @property
    def lane_maxima(self) -> str:
        """Hash: lane → how many jobs may wait in it, and what becomes of one more."""
        return self.root + "gmax"

    @property
    def lane_rates(self) -> str:
        """Hash: lane → how often its jobs may start."""
        return self.root + "grate"

    @property
    def lane_credits(self) -> str:
        """Hash: lane → how many jobs its turn is still worth."""
        return self.root + "gcredit"

    def call(self, caller: str) -> str:
        """String with expiry: the receipt of a caller's last call."""
        return f"{self.root}call:{caller}"

    def done(self, job_id: JobId) -> str:
        """Hash with expiry: the kept result of a finished job."""
        return f"{self.root}done:{parse_id(job_id).text}"

    def worker(self, worker_id: str) -> str:
        """Hash with expiry: what one worker says about itself."""
        return f"{self.root}worker:{worker_id}"


def stream_key(keys: Keyspace, name: str) -> str:
    """Return the key of an event stream of the queue."""
    return f"{keys.root}stream:{name}"


def stream_archived_key(keys: Keyspace, name: str) -> str:
    """Return the key of the mark up to which an event stream was archived (a string)."""
    return f"{stream_key(keys, name)}:archived"
