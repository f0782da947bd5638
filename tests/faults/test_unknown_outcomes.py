"""A call whose connection is cut, at any moment, is asked again: it is done once and answered."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
import pytest_asyncio

from echomq_worker.domain.job import After, At, Held, JobId
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.domain.views import Places, Removed, Requeued
from echomq_worker.store import QueueStore, Reaped, Server
from echomq_worker.store.line import Line
from tests.support.jobs import LEASE_MS, A, B, C, D, E, F, claim, enqueue, job_id, new_job, settle
from tests.support.look import Look, looking_at
from tests.support.proxy import Cut, Proxy
from tests.support.stores import no_trouble

G = job_id(6)
HOUR_MS = 3_600_000
FAR_FUTURE_MS = 4_000_000_000_000


@dataclass(frozen=True)
class Scene:
    """A and B are held, C is due, D waits, E is dead, the lease of F has run out."""

    queue: QueueStore
    line: Line
    held: dict[JobId, Held]


async def scene(queue: QueueStore, line: Line, look: Look) -> Scene:
    await enqueue(queue, A, B, E, F)
    held = {job.id: job for job in await claim(line, 4)}
    await settle(line, held[E], Buried("no"))
    await look.expire_lease(F)
    await queue.enqueue([new_job(C, at_ms=1), new_job(D)])
    return Scene(queue, line, held)


@dataclass(frozen=True)
class Verb:
    """One call, its script and what it answers."""

    script: str
    call: Callable[[Scene], Awaitable[object]]
    answer: object
    again: object = None
    """What a repeat answers that finds it done: how things stand. None: the same."""
    numbered: bool = False
    """True if the server keeps a receipt, so that even a late original changes nothing."""


async def enqueues(scene: Scene) -> object:
    return await scene.queue.enqueue([new_job(G), new_job(job_id(7))])


async def schedules(scene: Scene) -> object:
    return await scene.queue.enqueue([new_job(G, at_ms=FAR_FUTURE_MS)])


async def claims(scene: Scene) -> object:
    return [job.id for job in await claim(scene.line, 9, promote=9)]


async def beats(scene: Scene) -> object:
    beat = await scene.line.beat(
        limit=9, lease_ms=LEASE_MS, promote=9, reap=9, crash_limit=5, max_attempts=10
    )
    return beat.reaped, [job.id for job in beat.claimed.jobs]


async def settles_and_claims(scene: Scene) -> object:
    outcomes = [(scene.held[A], Retried(HOUR_MS, "no")), (scene.held[B], HandedBack())]
    settled = await scene.line.settle(outcomes, limit=9, lease_ms=LEASE_MS, promote=9)
    return settled.verdicts, [job.id for job in settled.claimed.jobs]


async def extends(scene: Scene) -> object:
    return await scene.queue.extend([scene.held[A], scene.held[B], scene.held[E]], LEASE_MS)


async def promotes(scene: Scene) -> object:
    return (await scene.queue.promote(9)).moved


async def reaps(scene: Scene) -> object:
    return await scene.queue.reap(9, crash_limit=5, max_attempts=10)


async def reschedules(scene: Scene) -> object:
    return await scene.queue.reschedule([C, D], At(FAR_FUTURE_MS))


async def puts_off(scene: Scene) -> object:
    return await scene.queue.reschedule([C, D], After(HOUR_MS))


async def promotes_now(scene: Scene) -> object:
    return await scene.queue.promote_now([C, D])


async def reprioritizes(scene: Scene) -> object:
    return await scene.queue.reprioritize([A, C, D], -3)


async def requeues(scene: Scene) -> object:
    return await scene.queue.requeue([E])


async def removes(scene: Scene) -> object:
    return await scene.queue.remove(D, Places.WAITING)


async def pauses(scene: Scene) -> object:
    return await scene.queue.pause(reason="why", by="who")


def settles(outcome: Outcome) -> Callable[[Scene], Awaitable[object]]:
    async def call(scene: Scene) -> object:
        return (await scene.line.settle([(scene.held[A], outcome)])).verdicts

    return call


OUTCOMES = {
    "completes": Completed(),
    "keeps a result": Completed(b"1", HOUR_MS),
    "retries": Retried(HOUR_MS, "no"),
    "retries uncounted": Retried(HOUR_MS, "no", counted=False),
    "buries": Buried("no"),
    "snoozes": Snoozed(HOUR_MS),
    "puts back": Snoozed(HOUR_MS, unknown=True),
    "hands back": HandedBack(),
}
NUMBERED = {
    "enqueue": Verb("enqueue", enqueues, ["enqueued", "enqueued"], numbered=True),
    "schedule": Verb("schedule", schedules, ["scheduled"], numbered=True),
    "claim": Verb("claim", claims, [C, D], numbered=True),
    "beat": Verb("beat", beats, (Reaped(recovered=(F,)), [C, D, F]), numbered=True),
    "settle and claim": Verb(
        "settle", settles_and_claims, ([Verdict.OK, Verdict.OK], [B, C, D]), numbered=True
    ),
} | {
    name: Verb("settle", settles(outcome), [Verdict.OK], numbered=True)
    for name, outcome in OUTCOMES.items()
}
VERBS = NUMBERED | {
    "extend": Verb("extend", extends, [Verdict.OK, Verdict.OK, Verdict.STALE]),
    "promote": Verb("promote", promotes, 1, again=0),
    "reap": Verb("reap", reaps, Reaped(recovered=(F,)), again=Reaped()),
    "reschedule": Verb("reschedule", reschedules, ["ok", "not_scheduled"], numbered=True),
    "put off": Verb("reschedule", puts_off, ["ok", "not_scheduled"], numbered=True),
    "promote now": Verb("promote_job", promotes_now, ["ok", "not_scheduled"], numbered=True),
    "reprioritize": Verb(
        "reprioritize", reprioritizes, ["not_waiting", "not_waiting", "ok"], numbered=True
    ),
    "requeue": Verb("requeue", requeues, [Requeued.OK]),
    "remove": Verb("remove", removes, Removed.OK),
    "pause": Verb("pause", pauses, None),
}


@pytest_asyncio.fixture
async def far(far_queue: QueueStore, far_line: Line, look: Look) -> Scene:
    """The scene behind a proxy."""
    return await scene(far_queue, far_line, look)


async def undisturbed(server: Server, url: str, name: str, verb: Verb) -> dict[str, object]:
    """Return the state after the same call on another queue, where nothing goes wrong."""
    queue = server.queue(name)
    line = queue.line(trouble=no_trouble)
    async with looking_at(url, name) as look:
        assert await verb.call(await scene(queue, line, look)) == verb.answer
        await line.aclose()
        return await look.state()


@pytest.mark.case("CRW-13", "CRW-15")
@pytest.mark.parametrize("cut", Cut)
@pytest.mark.parametrize("name", VERBS)
async def test_a_call_that_is_cut_off_is_done_once_and_answered_in_the_second_round_trip(
    far: Scene,
    proxy: Proxy,
    look: Look,
    server: Server,
    server_url: str,
    new_queue_name: Callable[[], str],
    name: str,
    cut: Cut,
):
    verb = VERBS[name]
    proxy.cut(verb.script, cut)

    answer = await verb.call(far)

    assert proxy.tries[verb.script] == (1 if cut is Cut.AFTER_REPLY else 2)
    may_be_done = cut in {Cut.AFTER_SEND, Cut.AFTER_APPLY} and verb.again is not None
    assert answer == verb.answer or (may_be_done and answer == verb.again)
    state = await look.state()
    assert state == await undisturbed(server, server_url, new_queue_name(), verb)
    before = await look.dumps()
    await proxy.release()
    assert await look.state() == state
    assert not verb.numbered or await look.dumps() == before
    assert (await far.queue.counts()).dead >= 0  # what was cut is mended


@pytest.mark.parametrize("name", NUMBERED)
async def test_one_cut_after_another_changes_nothing(
    far: Scene,
    proxy: Proxy,
    look: Look,
    server: Server,
    server_url: str,
    new_queue_name: Callable[[], str],
    name: str,
):
    verb = NUMBERED[name]
    cuts = [Cut.BEFORE_SEND, Cut.AFTER_SEND, Cut.AFTER_APPLY, Cut.HELD, Cut.AFTER_REPLY]
    proxy.cut(verb.script, *cuts)

    assert await verb.call(far) == verb.answer

    assert proxy.tries[verb.script] == len(cuts)
    state = await look.state()
    assert state == await undisturbed(server, server_url, new_queue_name(), verb)
    await proxy.release()
    assert await look.state() == state


@pytest.mark.case("MX-F4-claim")
async def test_a_claim_whose_reply_was_lost_is_recovered_by_its_id_long_before_its_lease_ends(
    far: Scene, proxy: Proxy, look: Look
):
    proxy.cut("claim", Cut.AFTER_APPLY)
    began = time.monotonic()

    jobs = await claim(far.line, 9, promote=9)

    assert time.monotonic() - began < 1
    for job in jobs:
        row = await look.row(job.id)
        assert (row["claim"], row["attempts"], row.get("crashes")) == (job.claim, "1", None)
    settled = await far.line.settle([(job, Completed()) for job in jobs])
    assert settled.verdicts == [Verdict.OK] * len(jobs)
