"""Questions to the server as steps, so that the same audit runs over any client."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.scripts import BoundScript, Operand, script
from echomq_worker.store.wire import Wire, run_script

Reply = Any
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """A call of a script, or a command if it has none."""

    script: BoundScript | None
    operands: Sequence[Operand]

    def evaluated(self, *, by_hash: bool) -> list[Operand]:
        """Return the words of the command to send."""
        if self.script is None:
            return list(self.operands)
        source = self.script.script
        first = ("EVALSHA", source.sha) if by_hash else ("EVAL", source.source)
        return [*first, len(self.script.keys), *self.script.keys, *self.operands]


Steps = Generator[Question, Reply, T]

_SPELLED = {"repeat_set": "repeat"}


def ask(keys: Keyspace, name: str, *operands: Operand, **more: str) -> Question:
    """Return a call of a script of one queue; `more` are keys that vary, by name."""
    found = script(name)
    places = {
        key: more[key] if key in more else getattr(keys, _SPELLED.get(key, key))
        for key in found.keys
    }
    return Question(found.bind(places), operands)


def command(*words: Operand) -> Question:
    """Return a command."""
    return Question(None, words)


async def answered(wire: Wire, steps: Steps[T]) -> T:
    """Let the server answer step after step; return what comes out."""
    reply: Reply = None
    while True:
        try:
            question = steps.send(reply)
        except StopIteration as end:
            return end.value
        if question.script is None:
            reply = await wire.command(*question.operands)
        else:
            args = question.script.script.args
            named = dict(zip(args, question.operands, strict=False))
            reply = await run_script(wire, question.script, named, question.operands[len(args) :])


def answered_by(ask_once: Callable[[Question], Reply], steps: Steps[T]) -> T:
    """Do the same over a client that blocks."""
    reply: Reply = None
    while True:
        try:
            question = steps.send(reply)
        except StopIteration as end:
            return end.value
        reply = ask_once(question)
