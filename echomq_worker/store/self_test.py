"""Asks the server whether this user may do what it will have to do, before it does any of it.

A refusal in the middle of a script would leave half a change behind.
"""

from collections.abc import Iterable

from echomq_worker.errors import AccessError
from echomq_worker.protocol.keyspace import VERSION_KEY, Keyspace
from echomq_worker.protocol.scripts import script
from echomq_worker.store.rights import Missing, Needs, missing, trial_operands, trials
from echomq_worker.store.wire import Wire, run_script

_ANY_QUEUE = "echomq-doctor"
"""Stands for every queue when none is named; nothing is read from it or written to it."""


async def missing_rights(wire: Wire, needs: Needs) -> Missing | None:
    """Return what this user lacks: one round trip a queue, which touches no key.

    Returns:
        None if the server cannot tell (before Redis 7).

    Raises:
        ServerError: if the server cannot be asked.
    """
    bound = script("rights").bind({"version": VERSION_KEY})
    commands: set[str] = set()
    keys: set[str] = set()
    for queue in needs.queues or (_ANY_QUEUE,):
        asked = trials(needs, queue)
        try:
            refused = await run_script(wire, bound, {}, trial_operands(asked))
        except AccessError as error:
            # Without these no script runs, this one neither.
            about_key = " key" in str(error)
            return Missing(keys=(VERSION_KEY,)) if about_key else Missing(("eval", "evalsha"))
        if refused is None:
            return None
        found = missing(asked, refused)
        commands.update(found.commands)
        keys.update(_shortened(found.keys, Keyspace(queue)))
    return Missing(tuple(sorted(commands)), tuple(sorted(keys)))


def _shortened(missing_keys: Iterable[str], keys: Keyspace) -> set[str]:
    found = set(missing_keys)
    if keys.pending not in found:
        return found
    return {key for key in found if not key.startswith(keys.root)} | {f"{keys.root}*"}
