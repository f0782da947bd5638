"""An application with schedulers. Each run leaves a line in a file."""

import os
from pathlib import Path

from echomq_worker import INJECTED, EchoMQ, JobContext

app = EchoMQ()
RUNS = Path(os.environ.get("E2E_RUNS", os.devnull))
DECLARED = os.environ.get("E2E_SCHEDULERS", "every cron").split()
"""Which schedulers the code of this process has."""


@app.job("tick")
def tick(*, context: JobContext = INJECTED) -> None:
    """Note for which occurrence this is."""
    with RUNS.open("a") as file:
        file.write(f"ran {context.scheduler} {context.instant_ms} {context.id} {os.getpid()}\n")


if "every" in DECLARED:
    app.every("1s", name="every")(tick)
if "cron" in DECLARED:
    app.cron("* * * * * *", tz="Europe/Berlin", name="cron")(tick)
