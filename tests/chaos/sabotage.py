"""Faults put into the product on purpose, to see that the harness notices them."""

from echomq_worker.protocol import scripts

FAULTS = {
    # A finish that lost its lease counts all the same.
    "no-fence": ("if row[1] ~= token or own ~= claim then return '3' end", ""),
    # Jobs of the living are taken back.
    "careless-reap": ("active, '-inf', now, 'LIMIT'", "active, '-inf', '+inf', 'LIMIT'"),
    # Jobs that are taken back are put nowhere.
    "forgetful-reap": (
        "  put_waiting(id, row[3], row[12])\n  note('recovered'",
        "  note('recovered'",
    ),
    # Delayed jobs are due a second too early.
    "early": ("schedule, '-inf', now,", "schedule, '-inf', now + 1000,"),
}


def sabotage(name: str) -> None:
    """Break one of the scripts; nothing for an empty name.

    Raises:
        LookupError: if no script has the text that is to be broken.
    """
    if not name:
        return
    old, new = FAULTS[name]
    read = scripts._read
    files = ("reap", "settle", "schedule", "promote")
    if not any(old in read(f"lib/{file}.lua") for file in files):
        msg = f"sabotage {name}: no script says {old!r} any more"
        raise LookupError(msg)

    def broken(path: str) -> str:
        return read(path).replace(old, new)

    scripts._read = broken
