"""The verbs of the golden vectors that need no server: ids, keys, names and backoff."""

import random
from collections.abc import Callable
from functools import partial
from typing import NotRequired, TypedDict, TypeVar

from echomq_worker.domain.backoff import Exponential, Steps
from echomq_worker.domain.ids import BrandedId, hash32, parse_id
from echomq_worker.domain.minter import NOTHING_MINTED, next_cell
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.errors import InvalidArgumentError, InvalidIdError
from echomq_worker.protocol.keyspace import (
    VERSION_KEY,
    Keyspace,
    check_dedup_id,
    stream_archived_key,
    stream_key,
)
from echomq_worker.protocol.slot import key_slot

Refusal = dict[str, str]
T = TypeVar("T")


class LastId(TypedDict):
    """What a generator issued last."""

    unix_ms: int
    seq: int


class Shape(TypedDict):
    """A backoff as the vectors write it."""

    kind: str
    base_ms: int
    cap_ms: NotRequired[int]


def _flat_keys(keys: Keyspace) -> dict[str, str]:
    return {
        "pending": keys.pending,
        "active": keys.active,
        "schedule": keys.schedule,
        "dead": keys.dead,
        "wake": keys.wake,
        "meta": keys.meta,
        "limiter": keys.limiter,
        "repeat": keys.repeat,
        "events": keys.events,
        "metrics:completed": keys.completed_count,
        "metrics:failed": keys.failed_count,
        "ring": keys.ring,
        "paused": keys.lanes_paused,
        "glimit": keys.lane_limits,
        "gactive": keys.lane_actives,
        "gweight": keys.lane_weights,
        "flow:outbox": keys.outbox,
        "version": VERSION_KEY,
    }


def _named_key(keys: Keyspace, key: str, of: str) -> str:
    kind, _, part = key.partition(":")
    if kind == "job":
        return keys.job_part(of, part) if part else keys.job(of)
    return {
        "lane": keys.lane,
        "dedup": keys.dedup,
        "repeat_record": keys.repeat_record,
        "stream": partial(stream_key, keys),
        "stream_archived": partial(stream_archived_key, keys),
    }[kind](of)


def _or_refused(word: str, make: Callable[[], T]) -> T | Refusal:
    try:
        return make()
    except InvalidArgumentError:
        return {"error": word}


class PureVerbs:
    """Ids, keys, names and backoff, by the package's own functions."""

    async def id_parse(self, text: str, namespace: str | None = None) -> dict[str, object]:
        try:
            parsed = parse_id(text, namespace)
        except InvalidIdError:
            return {"error": "invalid_id"}
        return {
            "namespace": parsed.namespace,
            "snowflake": str(parsed.snowflake),
            "unix_ms": parsed.unix_ms,
            "node": parsed.node,
            "seq": parsed.sequence,
        }

    async def id_encode(self, namespace: str, snowflake: str) -> str | Refusal:
        return _or_refused("invalid_id", lambda: BrandedId.of(namespace, int(snowflake)).text)

    async def id_pack(self, namespace: str, unix_ms: int, node: int, seq: int) -> str | Refusal:
        return _or_refused("invalid_id", lambda: BrandedId.pack(namespace, unix_ms, node, seq).text)

    async def id_next(
        self, namespace: str, node: int, clock_ms: int, last: LastId | None
    ) -> dict[str, object]:
        cell = NOTHING_MINTED
        if last is not None:
            before = BrandedId.pack(namespace, last["unix_ms"], 0, last["seq"]).snowflake
            cell = before >> 22 << 12 | last["seq"]
        cell = next_cell(cell, clock_ms)
        minted = BrandedId.of(namespace, cell >> 12 << 22 | node << 12 | cell & 0xFFF)
        return {"id": minted.text, "unix_ms": minted.unix_ms, "seq": minted.sequence}

    async def id_hash32(self, text: str) -> int:
        return hash32(parse_id(text, None).snowflake)

    async def key_for(
        self,
        queue: str,
        key: str,
        id: str | None = None,  # noqa: A002 - the vectors' word
        group: str | None = None,
        name: str | None = None,
    ) -> str | Refusal:
        keys = Keyspace(queue)
        if key in (flat := _flat_keys(keys)):
            return flat[key]
        return _or_refused("invalid_id", lambda: _named_key(keys, key, id or group or name or ""))

    async def key_slot(self, key: str) -> int:
        return key_slot(key)

    async def queue_name_check(self, name: str) -> str | Refusal:
        return _or_refused("invalid_queue", lambda: check_queue_name(name) and "ok")

    async def dedup_id_check(self, name: str) -> str | Refusal:
        return _or_refused("invalid_dedup_id", lambda: check_dedup_id(name) and "ok")

    async def backoff_ms(
        self,
        kind: str,
        attempts: int,
        base_ms: int = 0,
        cap_ms: int = 0,
        inner: Shape | None = None,
    ) -> int:
        shape = inner or Shape(kind=kind, base_ms=base_ms, cap_ms=cap_ms)
        jitter = inner is not None
        if shape["kind"] == "exponential":
            backoff = Exponential(shape["base_ms"], shape.get("cap_ms", 0), jitter)
        else:
            backoff = Steps((shape["base_ms"],), jitter)
        return backoff.delay_ms(attempts, random.uniform)
