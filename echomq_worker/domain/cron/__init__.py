"""Cron: an expression, a time zone and a policy for clock changes become instants."""

from echomq_worker.domain.cron.rule import CronRule, Dst, cron_rule

__all__ = ["CronRule", "Dst", "cron_rule"]
