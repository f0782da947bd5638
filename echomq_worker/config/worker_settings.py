"""Settings of the worker: what it runs, how much of it, and how it stops."""

from dataclasses import dataclass

from echomq_worker.config.declare import Group, derived, optional, setting
from echomq_worker.config.parsers import Parser, choice, duration, size, switch, text, whole
from echomq_worker.domain.limits import WORKER_NAME
from echomq_worker.domain.queue_name import QueueWeight, parse_queues

_APP = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"
_QUEUES = Parser(
    parse_queues,
    "a list of queues such as critical:6,default:3,low",
    lambda queues: ",".join(map(str, queues)),
    explains=True,
)


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    """What a worker runs and when it lets go."""

    app: str | None = optional(
        "APP",
        text("module:attribute, such as myproject.jobs:app", _APP),
        "The application whose jobs to run, as module:attribute.",
        group=Group.APP,
    )
    app_dir: str = setting(
        "APP_DIR", text(), ".", "Directory to import the application from.", group=Group.APP
    )

    queues: tuple[QueueWeight, ...] = setting(
        "QUEUES",
        _QUEUES,
        "default",
        "The queues to serve and their weights: critical:6,default:3,low.",
        group=Group.WORKER,
    )
    queue_order: str = setting(
        "QUEUE_ORDER",
        choice("weighted", "strict"),
        "weighted",
        "weighted = share by weight; strict = a queue waits until those before it are empty.",
        group=Group.WORKER,
    )
    concurrency: int = setting(
        "CONCURRENCY",
        whole(1, 1000),
        "32",
        "Jobs that may run at once in this process.",
        group=Group.WORKER,
    )
    threads: int = derived(
        "THREADS",
        whole(1, 1000),
        0,
        "ECHOMQ_CONCURRENCY",
        "Threads for handlers that are not async.",
        group=Group.WORKER,
    )
    lease_ms: int = setting(
        "LEASE",
        duration("100ms", "1d"),
        "10s",
        "How long a claimed job stays ours without a sign of life.",
        group=Group.WORKER,
    )
    lease_renew_interval_ms: int = derived(
        "LEASE_RENEW_INTERVAL",
        duration("10ms", "16h"),
        0,
        "a third of ECHOMQ_LEASE",
        "How often leases are extended; must be shorter than two thirds of the lease.",
        group=Group.WORKER,
    )
    stuck_after_ms: int = derived(
        "STUCK_AFTER",
        duration("300ms", "7d"),
        0,
        "5m, or six leases if that is longer",
        "How long the event loop may stand still before its leases are left to run out; must be "
        "longer than three leases.",
        group=Group.WORKER,
    )
    beat_ms: int = setting(
        "BEAT",
        duration("10ms", "60s"),
        "1s",
        "How often a worker looks for overdue jobs and for those of workers that died.",
        group=Group.WORKER,
    )
    fire_repeats: bool = setting(
        "FIRE_REPEATS",
        switch(),
        "true",
        "Fire what peers have registered to repeat; false where another runtime's pump does it.",
        group=Group.WORKER,
    )
    revision: int = setting(
        "REVISION",
        whole(0, 10**12),
        "0",
        "Revision of schedulers in code that name none; of two versions the higher one decides.",
        group=Group.WORKER,
    )
    node_id: int | None = optional(
        "NODE_ID",
        whole(0, 1023),
        "Number of this process in the ids that it mints; a free one is leased if not set.",
        group=Group.WORKER,
    )
    worker_name: str = derived(
        "WORKER_NAME",
        text(
            f"1 to {WORKER_NAME} of the characters A-Z a-z 0-9 . _ : @ -",
            rf"[\w.:@-]{{1,{WORKER_NAME}}}",
        ),
        "",
        "host name:process id",
        "What this worker is called in logs and lists.",
        group=Group.WORKER,
    )
    health_file: str | None = optional(
        "HEALTH_FILE",
        text(),
        "File that a worker keeps fresh for `echomq health`; else one in the runtime directory.",
        group=Group.WORKER,
    )

    max_attempts: int = setting(
        "MAX_ATTEMPTS",
        whole(1, 100_000),
        "10",
        "How often a job may be tried before it is dead, unless the job says otherwise.",
        group=Group.JOBS,
    )
    crash_limit: int = setting(
        "CRASH_LIMIT",
        whole(1, 1000),
        "5",
        "How many leases in a row a job may lose before it is dead.",
        group=Group.JOBS,
    )
    retry_delay_ms: int = setting(
        "RETRY_DELAY",
        duration("1ms", "1d"),
        "1s",
        "Wait before the second attempt; it doubles with each further one, up to 10 minutes.",
        group=Group.JOBS,
    )
    job_timeout_ms: int = setting(
        "JOB_TIMEOUT",
        duration("1ms", "365d", zero="no limit"),
        "0",
        "How long one attempt may take, unless the job says otherwise; 0 = no limit.",
        group=Group.JOBS,
    )
    max_payload: int = setting(
        "MAX_PAYLOAD",
        size("64", "256MiB"),
        "1MiB",
        "Largest payload of a job that is accepted.",
        group=Group.JOBS,
    )

    shutdown_timeout_ms: int = setting(
        "SHUTDOWN_TIMEOUT",
        duration("0", "1d"),
        "25s",
        "Time from a stop signal to the exit; keep it 2 s below what the orchestrator grants.",
        group=Group.STOP,
    )
    shutdown_cancel_grace_ms: int = derived(
        "SHUTDOWN_CANCEL_GRACE",
        duration("0", "1d"),
        -1,
        "5s, at most a fifth of ECHOMQ_SHUTDOWN_TIMEOUT",
        "The end of that time, in which jobs that still run are cancelled and handed back.",
        group=Group.STOP,
    )
