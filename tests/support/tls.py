"""A server that speaks TLS, and certificates good and bad. Needs Debian's `redis-server`."""

import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.docker import engine_must_answer

HOST = "127.0.0.1"
PATIENCE_S = 10
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
_GOOD = f"subjectAltName=IP:{HOST}"


@dataclass(frozen=True, slots=True)
class Certificates:
    """What an authority of our own has issued, by name: `good`, `elsewhere`, `expired`, `own`."""

    folder: Path

    @property
    def authority(self) -> str:
        """Return the file of the authority that issued all but `own`."""
        return str(self.folder / "authority.crt")

    def files(self, name: str) -> tuple[str, str]:
        """Return the files of a certificate and of its key."""
        return str(self.folder / f"{name}.crt"), str(self.folder / f"{name}.key")


def must_speak_tls() -> None:
    """Skip the test where no server speaks TLS; fail it there in CI."""
    if shutil.which("openssl") and shutil.which("redis-server"):
        return
    reason = "needs a server that speaks TLS (Debian: apt-get install redis-server openssl)"
    if engine_must_answer():
        pytest.fail(reason)
    pytest.skip(reason)


def issue(folder: Path) -> Certificates:
    """Make an authority and its certificates."""
    _self_signed(folder, "authority", "basicConstraints=critical,CA:TRUE")
    _self_signed(folder, "own", _GOOD)
    _issued(folder, "good", _GOOD, days=2)
    _issued(folder, "elsewhere", "subjectAltName=DNS:elsewhere.example", days=2)
    _issued(folder, "expired", _GOOD, days=-1)
    return Certificates(folder)


def _self_signed(folder: Path, name: str, extension: str) -> None:
    subject = ("-subj", f"/CN={name}", "-days", "2", "-addext", extension)
    files = ("-keyout", f"{name}.key", "-out", f"{name}.crt")
    _openssl(folder, "req", "-x509", *_KEY, *subject, *files)


def _issued(folder: Path, name: str, extension: str, *, days: int) -> None:
    (folder / f"{name}.ext").write_text(extension)
    wanted = ("-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
    _openssl(folder, "req", *_KEY, *wanted)
    authority = ("-CA", "authority.crt", "-CAkey", "authority.key", "-CAcreateserial")
    files = ("-in", f"{name}.csr", "-out", f"{name}.crt", "-extfile", f"{name}.ext")
    _openssl(folder, "x509", "-req", *authority, *files, "-days", str(days))


def _openssl(folder: Path, *words: str) -> None:
    program = shutil.which("openssl") or "openssl"
    subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)  # noqa: S603


@contextmanager
def tls_server(certificates: Certificates, name: str, folder: Path) -> Generator[str]:
    """Run a server with that certificate; give its URL, without options."""
    program = shutil.which("redis-server") or "redis-server"
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
    options = {
        "port": "0",
        "tls-port": str(port),
        "bind": HOST,
        "save": "",
        "dir": str(folder),
        **_tls_options(certificates, name),
    }
    words = [word for option, value in options.items() for word in (f"--{option}", value)]
    process = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL)  # noqa: S603
    try:
        _wait_for(port, process)
        yield f"rediss://{HOST}:{port}/0"
    finally:
        process.kill()
        process.wait()


def _tls_options(certificates: Certificates, name: str) -> dict[str, str]:
    certificate, key = certificates.files(name)
    return {
        "tls-cert-file": certificate,
        "tls-key-file": key,
        "tls-ca-cert-file": certificates.authority,
        "tls-auth-clients": "no",
    }


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    give_up = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > give_up:
                pytest.fail(f"the server that speaks TLS does not start (exit {process.poll()})")
            time.sleep(0.01)
        else:
            return
