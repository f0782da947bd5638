"""The verbs of the golden vectors about repeating registrations, in calls of the store."""

from typing import Any

from tests.conformance.server_verbs import ServerVerbs, refusal, refused


class RepeatVerbs(ServerVerbs):
    """A peer that registers, and one that fires by separate calls, as the reference does."""

    async def repeat_register(
        self, queue: str, name: str, every_ms: Any, template: str, first_in_ms: Any
    ) -> Any:
        repeats = self.queue(queue).repeats
        registered = await refused(repeats.register(name, every_ms, template.encode(), first_in_ms))
        if not isinstance(registered, bool):
            return registered
        return "registered" if registered else "exists"

    async def repeat_due(self, queue: str, limit: int) -> Any:
        return [
            {"name": each.name, "every_ms": each.every_ms, "template": each.template}
            for each in await self.queue(queue).repeats.due(limit)
        ]

    async def repeat_advance(self, queue: str, name: str, next_at_ms: Any) -> Any:
        moved = await refused(self.queue(queue).repeats.advance(name, next_at_ms))
        return "ok" if moved is True else moved or refusal("gone")

    async def repeat_cancel(self, queue: str, name: str) -> Any:
        return "cancelled" if await self.queue(queue).repeats.cancel(name) else refusal("gone")

    async def repeat_count(self, queue: str) -> int:
        return await self.queue(queue).repeats.count()
