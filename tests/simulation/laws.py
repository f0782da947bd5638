"""Holds what happened in one run to what is promised."""

from collections import defaultdict

from echomq_worker.domain.job import JobId
from tests.simulation.examined import doctors_complaints
from tests.simulation.plan import CRASH_LIMIT, LEASE_MS, PlannedJob
from tests.simulation.schedules import broken_promises
from tests.simulation.world import World

Entry = tuple[int, str, JobId, int]
RELEASES = ("completed", "scheduled", "returned", "recovered", "dead")


def broken_laws(world: World) -> list[str]:
    """Return what was promised and did not hold; empty if all did."""
    seen = world.seen
    broken = list(seen.complaints)
    of_job: dict[JobId, list[Entry]] = defaultdict(list)
    for entry in seen.log:
        of_job[entry[2]].append(entry)
    known = {job.id: job for job in world.plan.jobs}
    known |= {
        made.id: PlannedJob(made.id, -1, made.at_ms, None, ()) for made in world.network.fired
    }
    broken += [f"{id_} was never enqueued by anybody" for id_ in of_job.keys() - known.keys()]
    for id_, job in known.items():
        broken += [f"{id_}: {text}" for text in _of_job(world, job, of_job[id_])]
    broken += broken_promises(world)
    return broken + _left_behind(world) + doctors_complaints(world.server)


def _of_job(world: World, job: PlannedJob, history: list[Entry]) -> list[str]:
    broken: list[str] = []
    events = [event for _, event, _, _ in history]
    admitted = sum(
        attempt == 0 and event in ("enqueued", "scheduled") for _, event, _, attempt in history
    )
    ends = [event for event in events if event in ("completed", "dead")]
    if job.id in world.seen.acknowledged and admitted != 1:
        broken.append(f"acknowledged, and admitted {admitted} times")
    if admitted > 1:
        broken.append(f"admitted {admitted} times")
    if job.id in world.seen.refused and admitted:
        broken.append("refused, and admitted")
    if len(ends) != admitted:
        broken.append(f"admitted {admitted} times, ended {len(ends)} times: {events}")
    if "completed" in events and not world.seen.succeeded[job.id]:
        broken.append("completed, and no handler succeeded")
    return (
        broken
        + _one_holder(world, history)
        + _never_early(job, history)
        + _kept_when_calm(world, events)
        + _fenced(world, job.id, history)
    )


def _kept_when_calm(world: World, events: list[str]) -> list[str]:
    if world.plan.is_calm and "recovered" in events:
        return [f"its lease was lost, and nothing had happened: {events}"]
    return []


def _fenced(world: World, id_: JobId, history: list[Entry]) -> list[str]:
    claims = [(at_ms, attempt) for at_ms, event, _, attempt in history if event == "claimed"]
    return [
        f"the outcome of attempt {token} was accepted after another claim"
        for (whose, token), at_ms in world.network.accepted.items()
        if whose == id_ and any(when < at_ms and attempt > token for when, attempt in claims)
    ]


def _one_holder(world: World, history: list[Entry]) -> list[str]:
    broken: list[str] = []
    held_since, token, lost_in_a_row = None, 0, 0
    for at_ms, event, id_, attempt in history:
        if event == "claimed":
            if held_since is not None:
                broken.append(f"claimed as {attempt} while held as {token}")
            if attempt != token + 1:
                broken.append(f"claimed as {attempt} after {token}")
            held_since, token = at_ms, attempt
        elif event in RELEASES and attempt > 0:
            if event == "recovered":
                lost_in_a_row += 1
                broken += _too_soon(world, id_, held_since, at_ms)
            else:
                lost_in_a_row = 0
            held_since = None
    if lost_in_a_row > CRASH_LIMIT:
        broken.append(f"its lease was lost {lost_in_a_row} times in a row")
    return broken


def _too_soon(world: World, id_: JobId, since_ms: int | None, at_ms: int) -> list[str]:
    if since_ms is None:
        return ["recovered, and nobody held it"]
    extended = [when for when, whose in world.network.extended if whose == id_ and when < at_ms]
    end_ms = max([since_ms, *extended]) + LEASE_MS
    return [f"recovered {end_ms - at_ms} ms before its lease ended"] if at_ms < end_ms else []


def _never_early(job: PlannedJob, history: list[Entry]) -> list[str]:
    if job.delay_ms is None:
        return []
    admitted = [at_ms for at_ms, event, _, _ in history if event == "scheduled"][:1]
    claimed = [at_ms for at_ms, event, _, _ in history if event == "claimed"][:1]
    if admitted and claimed and claimed[0] < admitted[0] + job.delay_ms:
        return [f"started {admitted[0] + job.delay_ms - claimed[0]} ms early"]
    return []


def _left_behind(world: World) -> list[str]:
    server, keys = world.server, world.keys
    rows = {key.decode().rpartition(":")[2] for key in server.ask("KEYS", keys.root + "job:*")}
    dead = {id_.decode() for id_ in server.ask("ZRANGE", keys.dead, 0, -1)}
    broken = [f"{id_} has a row and is in no place" for id_ in sorted(rows - dead)]
    broken += [f"{id_} is dead and has no row" for id_ in sorted(dead - rows)]
    if server.ask("EXISTS", keys.root + "quarantine"):
        broken.append("something was set aside as malformed")
    ended = sum(event == "completed" for _, event, _, _ in world.seen.log)
    counted = int(server.ask("HGET", keys.completed_count, "count") or 0)
    if counted != ended:
        broken.append(f"{ended} completed, {counted} counted")
    return broken
