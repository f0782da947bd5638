"""The innermost step of an enqueue: to the server, with new ids for those that were taken."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from echomq_worker.client.ports import Backends
from echomq_worker.domain.job import Admission, JobId, NewJob
from echomq_worker.errors import DuplicateJobError, ServerError, WireVersionError
from echomq_worker.handlers import Outgoing, Sent

MOST_REMINTS = 8
"""How often the ids of one delivery may turn out to be taken before that is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Sends jobs to their queues, and mints again what was minted twice.

    Producers draw their node numbers, so two of them may mint one id. When the server calls the
    first send of a minted id a duplicate, somebody else's job has it.
    """

    backends: Backends
    mint: Callable[[], JobId]
    minted: set[JobId]
    """Ids that we minted for these jobs; all others were chosen by the caller."""

    async def send(self, outgoing: Sequence[Outgoing]) -> list[Sent]:
        """Send jobs; return what became of each, in order.

        Raises:
            DuplicateJobError: if minted ids turn out to be taken again and again.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        sent: dict[int, Sent] = {}
        places: dict[str, list[int]] = {}
        for place, item in enumerate(outgoing):
            places.setdefault(item.queue, []).append(place)
        jobs = {place: item.job for place, item in enumerate(outgoing)}
        try:
            for queue, of_queue in places.items():
                sent |= await self._send(queue, jobs, of_queue)
        except WireVersionError:
            raise
        except ServerError as error:
            text = f"{error}{_other_queues(len(sent))}"
            # Of all queues: whoever asks again asks for all.
            raise type(error)(text, ids=[job.id for job in jobs.values()]) from error
        return [sent[place] for place in range(len(outgoing))]

    async def _send(
        self, name: str, jobs: dict[int, NewJob], places: Sequence[int]
    ) -> dict[int, Sent]:
        queue = (await self.backends.backend()).queue(name)
        sent: dict[int, Sent] = {}
        for _ in range(1 + MOST_REMINTS):
            together = [place for place in places if jobs[place].unique is None]
            admissions = (
                await queue.enqueue([jobs[place] for place in together]) if together else ()
            )
            for place, admission in zip(together, admissions, strict=True):
                sent[place] = Sent(name, jobs[place].id, admission)
            for place in places:
                if (unique := jobs[place].unique) is not None:
                    admission, winner = await queue.enqueue_unique(jobs[place], unique)
                    sent[place] = Sent(name, winner, admission)
            places = [
                place
                for place in places
                if sent[place].admission is Admission.DUPLICATE and sent[place].id in self.minted
            ]
            if not places:
                return sent
            for place in places:
                jobs[place] = replace(jobs[place], id=self._mint())
        msg = (
            f"queue {name}: {MOST_REMINTS} ids in a row were taken by other jobs, so this one was "
            f"not enqueued. Does another process mint with the same ECHOMQ_NODE_ID?"
        )
        raise DuplicateJobError(msg)

    def _mint(self) -> JobId:
        job_id = self.mint()
        self.minted.add(job_id)
        return job_id


def _other_queues(jobs: int) -> str:
    if not jobs:
        return ""
    return (
        f". {jobs} jobs for other queues had gone in before: ask again with the same ids (`ids` of "
        "this error), which changes nothing for them"
    )
