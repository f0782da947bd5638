"""Logging that a test can read."""

import io
import json

from echomq_worker.config import Settings
from echomq_worker.observe import configure_logging


class Stream(io.BytesIO):
    def __init__(self, *, terminal: bool = False) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    @property
    def text(self) -> str:
        return self.getvalue().decode()

    @property
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.text.splitlines()]


def configured(stream: Stream | None = None, **settings: object) -> Stream:
    stream = stream or Stream()
    configure_logging(Settings(worker_name="w:1", **settings), stream=stream, environ={})  # pyright: ignore[reportArgumentType]
    return stream
