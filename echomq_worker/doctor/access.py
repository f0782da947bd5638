"""Whether this user may do what a worker does."""

from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.say import fail, ok, warn
from echomq_worker.domain.finding import Finding


def scripts(facts: Facts) -> list[Finding]:
    """The server takes scripts and runs them."""
    if facts.rights is None:
        return []
    missing = facts.rights.missing
    if missing and "evalsha" in missing.commands:
        text = "the server refuses to run scripts: none of ours can run"
        return [fail("scripts", text, "let the user call EVAL and EVALSHA")]
    return [ok("scripts", "the server has taken one of ours and run it")]


def rights(facts: Facts) -> list[Finding]:
    """The user may call every command, and touch every key, that a worker needs."""
    name, found = "rights", facts.rights
    if found is None:
        return []
    user = facts.settings.redis_url.username or "default"
    needs = found.needs
    if found.missing is None:
        text = "this server cannot tell what a user may do (Redis 7 and Valkey can)"
        return [warn(name, text, f"compare its user with: {needs.acl_line('echomq')}")]
    if found.missing:
        line = needs.acl_line("echomq" if user == "default" else user)
        return [fail(name, f"the user {user} lacks the {found.missing}", line)]
    count = len(needs.commands())
    return [ok(name, f"the user {user} may call all {count} commands that a {needs.role} needs")]
