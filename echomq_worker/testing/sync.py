"""A kit for tests that are not async."""

from functools import partial

from echomq_worker.client.portal import Portal
from echomq_worker.domain.backoff import Duration
from echomq_worker.testing.base import KitBase
from echomq_worker.testing.kit import GIVE_UP, MOST_RUNS, Kit
from echomq_worker.testing.report import Report


class SyncKit(KitBase):
    """The jobs of an application, in the hands of a test that is not async.

    Made by `inline_sync`. The test enqueues by `app.sync`.

    Args:
        kit: does the work.
        portal: leads into its event loop.
    """

    def __init__(self, kit: Kit, portal: Portal) -> None:
        super().__init__(kit.backend, kit.registry)
        self._kit = kit
        self._portal = portal

    def run_until_idle(self, *, limit: int = MOST_RUNS, give_up: Duration = GIVE_UP) -> Report:
        """Run what is pending or due until nothing is left, as `Kit.run_until_idle` does.

        Args:
            limit: how many attempts may be made.
            give_up: how long to wait for a handler in real time, such as `"10s"`.

        Returns:
            What became of each attempt, in the order in which they ended.

        Raises:
            NotIdleError: if there is no end to it.
        """
        return self._portal.call(partial(self._kit.run_until_idle, limit=limit, give_up=give_up))

    def run_for(
        self, duration: Duration, *, limit: int = MOST_RUNS, give_up: Duration = GIVE_UP
    ) -> Report:
        """Let time pass, and run what a worker would run meanwhile, as `Kit.run_for` does.

        Args:
            duration: how long, such as `"1d"`.
            limit: how many attempts may be made.
            give_up: how long to wait for a handler in real time, such as `"10s"`.

        Returns:
            What became of each attempt, in the order in which they ended.

        Raises:
            NotIdleError: as `run_until_idle`.
        """
        run = partial(self._kit.run_for, duration, limit=limit, give_up=give_up)
        return self._portal.call(run)
