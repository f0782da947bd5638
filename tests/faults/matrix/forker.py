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
from typing import Any

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Fork until nobody asks any more."""
    import echomq_worker.cli.dev  # noqa: PLC0415 - imported here to be shared by all forks
    import echomq_worker.cli.run  # noqa: PLC0415
    import echomq_worker.client  # noqa: PLC0415
    import echomq_worker.wiring  # noqa: F401, PLC0415

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
