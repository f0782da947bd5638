"""Cron: an expression, a time zone and a policy for clock changes become instants."""

from echomq_worker.domain.cron.changes import ClockChange, clock_changes
from echomq_worker.domain.cron.rule import CronRule, Dst, cron_rule

__all__ = ["ClockChange", "CronRule", "Dst", "clock_changes", "cron_rule"]
