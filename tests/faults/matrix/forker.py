"""Starts many `echomq` processes at the price of one import: each is a fork of this one.

Takes a line of JSON for each (`words`, `environ`, `output`) and answers with its process id.
The processes end with this one.
"""

import ctypes
import gc
import json
import os
import signal
import sys
from importlib import import_module
from typing import Any

PR_SET_PDEATHSIG = 1
SHARED = (
    "echomq_worker.cli.group",
    "echomq_worker.cli.run",
    "echomq_worker.cli.job",
    "echomq_worker.client",
    "echomq_worker.wiring",
)
"""What every process would import."""


def main() -> None:
    """Fork until nobody asks any more."""
    for name in SHARED:
        import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who has ended is gone
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            become(order)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def become(order: dict[str, Any]) -> None:
    """Be an `echomq` process until its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    output = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(old, new)
    os.environ.clear()
    os.environ.update(order["environ"])
    from echomq_worker.cli.main import main as echomq  # noqa: PLC0415 - it is loaded already

    code = 1
    try:
        code = echomq(order["words"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
