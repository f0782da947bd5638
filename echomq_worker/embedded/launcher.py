"""Become the server, and die with the parent: `launcher.py PARENT_PID PROGRAM OPTIONS...`.

A program of its own, because the wish to die with the parent must be told to Linux by the child
between fork and exec, and Python code run there (`preexec_fn`) may deadlock in a parent that has
threads. It imports nothing of this package.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1
COULD_NOT_RUN = 126


def main(arguments: Sequence[str]) -> int:
    """Replace this process by the server; return an exit code only if that is not possible."""
    parent, program, *options = arguments
    if ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
        return _refuse("Linux refused to let it die with its parent (prctl PR_SET_PDEATHSIG)")
    if os.getppid() != int(parent):
        return _refuse("its parent has died already")
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        os.execv(program, [program, *options])  # noqa: S606 - no shell is wanted
    except OSError as error:
        return _refuse(f"{error.strerror}. Is it a program for this system?")


def _refuse(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return COULD_NOT_RUN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
