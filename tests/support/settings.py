"""Settings that cannot be used."""

from pathlib import Path

import pytest

from echomq_worker.config import load
from echomq_worker.errors import SettingsError


def problems(
    environ: dict[str, str], flags: dict[str, str | None] | None = None, *files: Path
) -> list[str]:
    """Return what is wrong with settings."""
    with pytest.raises(SettingsError) as caught:
        load(environ, flags, files)
    return caught.value.problems
