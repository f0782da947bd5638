"""The one place that says which version this is, and which it speaks."""

__version__ = "0.1.0"

WIRE_VERSION = "echomq:3.0.0"
"""The version of the layout on the server that all runtimes share."""
