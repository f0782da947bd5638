"""Runs seeds: `python -m tests.simulation --seeds 0:2000 --jobs 2`."""

import sys

from tests.simulation.run import main

sys.exit(main(sys.argv[1:]))
