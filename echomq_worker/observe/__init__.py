"""What is told about the work: log lines and the heartbeat file.

Nothing here happens by itself: a program that runs a worker calls `configure_logging`, and one
that only uses the library keeps the logging that it has.
"""

from echomq_worker.observe.configure import configure_logging

__all__ = ["configure_logging"]
