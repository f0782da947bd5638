"""How to reach the server."""

from dataclasses import dataclass, field

from echomq_worker.store.gate import ConnectGate
from echomq_worker.version import WIRE_VERSION

EXTENSION_VERSION = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Where the server is and how long to wait for it. No repr shows a secret."""

    url: str = field(default="redis://127.0.0.1:6379/0", repr=False)
    """`redis://`, `rediss://` or `unix://`, as redis-py reads them."""
    username: str | None = None
    """Overrides the user of the URL."""
    password: str | None = field(default=None, repr=False)
    """Overrides the password of the URL."""
    tls_ca_path: str | None = None
    tls_cert_path: str | None = None
    tls_key_path: str | None = field(default=None, repr=False)
    connect_timeout_ms: int = 3_000
    timeout_ms: int = 5_000
    """How long one command may take; a blocking read gets its own time on top."""
    max_connections: int = 36
    client_name: str | None = None
    """What `CLIENT LIST` calls our connections; what each is for is put behind it."""
    wire_version: str = WIRE_VERSION
    """The fence: what `{emq}:version` must hold. A foreign value is never overwritten."""
    extension: str | None = EXTENSION_VERSION
    """The version of our extension layout, claimed per queue; None does without."""
    log_size: int = 0
    """How many lifecycle events a queue's `log` keeps; 0 writes none."""
    keep_results: int = 10_000
    """How many results a queue keeps at most."""
    give_up_ms: int = 10_000
    """How long a producer asks again before it reports an unknown outcome."""
    gate: ConnectGate = field(default_factory=ConnectGate, repr=False, compare=False)
    """Spaces attempts to connect while they fail; shared by all that is made of these options."""
