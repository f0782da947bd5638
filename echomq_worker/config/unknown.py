"""Variables that look like settings and are none."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from echomq_worker.config.declare import PREFIX, Declaration

# Kubernetes puts such variables into every container for a Service called echomq-something.
_FROM_KUBERNETES = re.compile(
    rf"{PREFIX}(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?"
    r"|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)"
)
_FOR_TESTS = re.compile(rf"{PREFIX}(?:TEST|CI)_\w+")


def unknown_variables(names: Iterable[str], declared: Iterable[Declaration]) -> list[str]:
    """Return a sentence for each of `names` that has our prefix and is no setting."""
    settings = {declaration.variable: declaration for declaration in declared}
    files = {f"{name}_FILE" for name, declaration in settings.items() if declaration.secret}
    known = settings.keys() | files
    return [
        _sentence(name, settings)
        for name in sorted(names)
        if name.startswith(PREFIX)
        and name not in known
        and not _FROM_KUBERNETES.fullmatch(name)
        and not _FOR_TESTS.fullmatch(name)
    ]


def _sentence(name: str, settings: dict[str, Declaration]) -> str:
    whose = name.removesuffix("_FILE")
    if whose in settings and whose != name:
        return f"{name} is not a setting: only secrets are read from files. Set {whose} itself"
    names = [declaration.name for declaration in settings.values()]
    near = get_close_matches(name.removeprefix(PREFIX), names, n=1, cutoff=0.75)
    hint = f" Did you mean {PREFIX}{near[0]}?" if near else " `echomq config env` lists them all"
    return f"{name} is not a setting.{hint}"
