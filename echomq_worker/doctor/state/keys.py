"""Checks of keys: known, of the right type, expiring if they should, of a job that lives."""

from collections.abc import Sequence

from echomq_worker.doctor.state.notes import Notes
from echomq_worker.domain.finding import Severity
from echomq_worker.protocol.families import KnownKey, Lasting

NO_EXPIRY, GONE = -1, -2


def check_unknown(notes: Notes, key: str) -> None:
    """Tell of a key that nobody owns. It is never touched."""
    hint = "another program's? look at it, and delete it by hand if nobody needs it"
    notes.add(
        "unknown-key",
        f"{key} is no key of a queue",
        key=key,
        hint=hint,
        severity=Severity.WARN,
    )


def check_key(notes: Notes, root: str, known: KnownKey, reply: Sequence[bytes | int]) -> None:
    """Check a key by what `audit_keys.lua` says of it."""
    kind_said, ttl, owner_said, lives = reply
    kind, ttl = bytes_text(kind_said), int(ttl)
    if ttl == GONE:
        return
    key = root + known.suffix
    if known.family.kinds and kind not in known.family.kinds:
        wanted = " or ".join(sorted(known.family.kinds))
        notes.add(
            "wrong-type",
            f"{key} holds a {kind}, expected a {wanted}",
            key=key,
            hint="rename or delete it by hand: it may hold something of value",
            invariant="I10",
        )
        return
    _check_expiry(notes, key, known, ttl)
    if lives == 0 and ttl == NO_EXPIRY:
        _check_owner(notes, key, known, bytes_text(owner_said))


def _check_expiry(notes: Notes, key: str, known: KnownKey, ttl: int) -> None:
    if known.family.lasting is Lasting.WHILE and ttl == NO_EXPIRY:
        repair = "let it expire"
        notes.add("no-expiry", f"{key} must expire, but does not", key=key, repair=repair)
    elif known.family.lasting is Lasting.EVER and ttl >= 0:
        repair = "take the expiry away"
        text = f"{key} expires in {ttl} ms, but must not"
        notes.add("expiring-key", text, key=key, repair=repair, invariant="I1")


def _check_owner(notes: Notes, key: str, known: KnownKey, owner: str) -> None:
    if known.family.name == "de":
        notes.add(
            "dedup-of-the-gone",
            f"{key} is held by {owner}, which no longer exists",
            key=key,
            severity=Severity.WARN,
            invariant="I9",
            repair="release it",
        )
    elif known.family.name == "part":
        notes.add(
            "part-without-row",
            f"{key} belongs to a job that has no row",
            key=key,
            severity=Severity.WARN,
            repair="let it expire in a week, with a note in quarantine",
            subject=owner,
        )


def bytes_text(value: bytes | int) -> str:
    """Return what the server said as text."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
