"""Settings: declared once, read once, checked at once."""

from echomq_worker.config.loading import Loaded, load
from echomq_worker.config.settings import Settings

__all__ = ["Loaded", "Settings", "load"]
