"""`python -m echomq_worker` is `echomq`."""

import sys

from echomq_worker.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
