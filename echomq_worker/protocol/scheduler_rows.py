"""How a scheduler is spelled in the fields of its hash, and read back.

What has its default is not stored. Instants and durations are ms.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from echomq_worker.domain.cron import CronRule, cron_rule
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.limits import NUMBER_DIGITS
from echomq_worker.domain.scheduling.misfire import ALL, MOST, Misfire
from echomq_worker.domain.scheduling.overlap import Overlap, overlap_from
from echomq_worker.domain.scheduling.rule import Every
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import CorruptSchedulerError, InvalidArgumentError, UnknownZoneError

RULE_FIELDS = (
    *("cron", "every", "zone", "dst", "offset"),
    *("start", "end", "limit", "jitter"),
)
"""What the next instant follows from: if one of them changes, it is computed anew."""
POLICY_FIELDS = ("misfire", "within", "overlap")
TEMPLATE_FIELDS = (
    *("name", "max", "keep", "timeout", "backoff", "ttl"),
    *("priority", "lane", "group", "key"),
)
FIELDS = (*RULE_FIELDS, *POLICY_FIELDS, *TEMPLATE_FIELDS)
"""What a firer reads: all of the definition but the payload, which only the script needs."""
DEFINITION = (*FIELDS, "payload")
"""Every field that a declaration writes; a new declaration replaces them all."""

DIGEST_LENGTH = 16

_MOST_TEXT = 4_096
_ALL = re.compile(r"all(?::([0-9]{1,3}))?", re.ASCII)
_Value = TypeVar("_Value")


def spec_fields(spec: SchedulerSpec) -> dict[str, str | bytes]:
    """Spell a declaration as the fields of its hash.

    The revision is not among them: it is bookkeeping, as who declared it is.
    """
    fields: dict[str, str | bytes | int | None] = {
        **_rule_fields(spec),
        "limit": spec.limit,
        "jitter": spec.jitter_ms or None,
        **_policy_fields(spec),
        "name": spec.template.name,
        "max": spec.template.max_attempts,
        "keep": spec.template.keep_result_ms,
        "timeout": spec.template.timeout_ms,
        "backoff": spec.template.backoff,
        "ttl": spec.template.ttl_ms,
        "priority": spec.template.priority or None,
        "lane": spec.template.lane,
        "group": None if spec.template.lane is None else lane_group(spec.template.lane),
        "key": spec.template.limit_key,
        "payload": spec.template.payload or None,
    }
    return {
        name: value if isinstance(value, bytes) else str(value)
        for name, value in fields.items()
        if value is not None
    }


def digests(spec: SchedulerSpec) -> tuple[str, str]:
    """Return the digest of a declaration, and that of its rule alone.

    They are the same in every process and version of Python: two deploys of one declaration agree.
    """
    fields = spec_fields(spec)
    rule = {name: value for name, value in fields.items() if name in RULE_FIELDS}
    return _digest(fields), _digest(rule)


def read_spec(name: str, fields: Mapping[str, bytes]) -> SchedulerSpec:
    """Read a declaration from the fields of its hash; those of the bookkeeping are passed over.

    Args:
        name: the scheduler's name.
        fields: the fields; without a payload it is empty.

    Raises:
        CorruptSchedulerError: if a field holds what none of this library's versions writes.
        UnknownZoneError: if the zone is not known here, which newer tz data may cure.
    """
    row = _Row(name, fields)
    start_ms = row.number("start")
    rule = _read_rule(row, start_ms)
    template = row.read("template", lambda: _read_template(row))
    misfire = row.read("misfire", lambda: _read_misfire(row))
    overlap = row.read("overlap", lambda: overlap_from(row.text("overlap") or Overlap.ALLOW))
    return row.read(
        "definition",
        lambda: SchedulerSpec(
            name=name,
            rule=rule,
            template=template,
            start_ms=start_ms,
            end_ms=row.number("end"),
            limit=row.number("limit"),
            jitter_ms=row.number("jitter") or 0,
            misfire=misfire,
            overlap=overlap,
            revision=row.number("revision") or 0,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """The fields of one scheduler, and the error that names the one that is wrong."""

    name: str
    fields: Mapping[str, bytes] = field(repr=False)

    def text(self, key: str) -> str | None:
        value = self.fields.get(key)
        if value is None:
            return None
        try:
            if len(value) <= _MOST_TEXT:
                return value.decode()
        except UnicodeDecodeError:
            pass
        raise CorruptSchedulerError(self.told(key, "expected a short text in UTF-8"))

    def number(self, key: str) -> int | None:
        value = self.fields.get(key)
        if value is None:
            return None
        if not value.isdigit() or len(value) > NUMBER_DIGITS:
            raise CorruptSchedulerError(self.told(key, "expected a whole number"))
        return int(value)

    def integer(self, key: str) -> int | None:
        value = self.fields.get(key)
        if value is None:
            return None
        digits = value.removeprefix(b"-")
        if not digits.isdigit() or len(digits) > NUMBER_DIGITS:
            raise CorruptSchedulerError(self.told(key, "expected a whole number"))
        return int(value)

    def read(self, key: str, make: Callable[[], _Value]) -> _Value:
        try:
            return make()
        except UnknownZoneError:
            raise
        except InvalidArgumentError as error:
            raise CorruptSchedulerError(self.told(key, str(error))) from error

    def told(self, key: str, problem: str) -> str:
        """What is wrong with a field, in a sentence."""
        value = self.fields.get(key)
        shown = "" if value is None else f" is {value[:64]!r}"
        return f"scheduler {self.name}: its {key}{shown}: {problem}"


def _rule_fields(spec: SchedulerSpec) -> dict[str, str | bytes | int | None]:
    bounds = {"start": spec.start_ms, "end": spec.end_ms}
    if isinstance(spec.rule, Every):
        return {"every": spec.rule.period_ms, "offset": spec.rule.offset_ms or None, **bounds}
    zone, dst = spec.rule.zone, str(spec.rule.dst)
    return {
        "cron": spec.rule.expression,
        "zone": None if zone == "UTC" else zone,
        "dst": None if dst == "cron" else dst,
        **bounds,
    }


def _policy_fields(spec: SchedulerSpec) -> dict[str, str | bytes | int | None]:
    misfire = spec.misfire
    policy = f"{ALL}:{misfire.most}" if misfire.policy == ALL else misfire.policy
    return {
        "misfire": None if misfire == Misfire(within_ms=misfire.within_ms) else policy,
        "within": misfire.within_ms,
        "overlap": None if spec.overlap is Overlap.ALLOW else str(spec.overlap),
    }


def _read_rule(row: _Row, start_ms: int | None) -> CronRule | Every:
    expression, period_ms = row.text("cron"), row.number("every")
    if expression is not None and period_ms is None:
        zone, dst = row.text("zone") or "UTC", row.text("dst") or "cron"
        return row.read("cron", lambda: cron_rule(expression, tz=zone, dst=dst))
    if expression is not None or period_ms is None:
        found = "neither" if expression is None else "both"
        raise CorruptSchedulerError(
            row.told("every", f"expected either cron or every, found {found}")
        )
    offset_ms = row.number("offset") or 0
    return row.read("every", lambda: Every(period_ms, offset_ms, start_ms or 0))


def _read_template(row: _Row) -> Template:
    return Template(
        name=row.text("name"),
        payload=row.fields.get("payload", b""),
        max_attempts=row.number("max"),
        keep_result_ms=row.number("keep"),
        timeout_ms=row.number("timeout"),
        ttl_ms=row.number("ttl"),
        backoff=row.text("backoff"),
        priority=row.integer("priority"),
        lane=row.text("lane"),
        limit_key=row.text("key"),
    )


def _read_misfire(row: _Row) -> Misfire:
    policy, within_ms = row.text("misfire"), row.number("within")
    if policy is None:
        return Misfire(within_ms=within_ms)
    every = _ALL.fullmatch(policy)
    if every is not None:
        return Misfire(ALL, int(every[1] or MOST), within_ms)
    return Misfire(policy, within_ms=within_ms)


def _digest(fields: Mapping[str, str | bytes]) -> str:
    plain = {
        name: hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value
        for name, value in fields.items()
    }
    canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:DIGEST_LENGTH]
