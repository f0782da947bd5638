"""Take all measurements, one after the other."""

import subprocess
import sys


def main() -> int:
    """Run each measurement in a process of its own; return 1 if one of them broke."""
    names = ("pickup", "lateness", "time", "drain", "startup", "idle")
    codes = [subprocess.call([sys.executable, "-m", f"bench.{name}"]) for name in names]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
