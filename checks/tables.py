"""The parts of the README that the code knows better, generated from it and compared."""

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

README = "README.md"
_PART = re.compile(
    r"(?P<open><!-- generated: (?P<name>[\w-]+) -->\n)(?P<text>.*?)(?P<close><!-- end -->)",
    re.DOTALL,
)

Generator = Callable[[], str]


def settings_table() -> str:
    """Every setting: its variable, default and sentence."""
    from echomq_worker.config.docs import settings_table  # noqa: PLC0415

    return settings_table()


def state_diagram() -> str:
    """How a job moves between its places."""
    from echomq_worker.domain.lifecycle import state_diagram  # noqa: PLC0415

    return state_diagram()


def exit_codes() -> str:
    """What each exit code of the program says."""
    from echomq_worker.cli.exit_codes import ExitCode  # noqa: PLC0415

    said = attribute_docstrings(ExitCode)
    rows = [f"| {code.value} | {said[code.name]} |" for code in ExitCode]
    return "\n".join(["| code | what it says |", "|---|---|", *rows])


def limits() -> str:
    """How much is too much, and what happens to what is over a limit."""
    from echomq_worker.domain.limits import limits_table  # noqa: PLC0415

    return limits_table()


def conditions() -> str:
    """What the server may reply instead of working, and what is done about it."""
    from echomq_worker.store.conditions import conditions_table  # noqa: PLC0415

    return conditions_table()


def doctor_checks() -> str:
    """What `echomq doctor` looks at besides the state of queues."""
    from echomq_worker.doctor import ENVIRONMENT  # noqa: PLC0415

    rows = [f"| {check.name} | {check.holds} |" for check in ENVIRONMENT]
    return "\n".join(["| check | what is so when all is well |", "|---|---|", *rows])


def acl_rule() -> str:
    """The rule by which a worker may do what it does, and nothing else."""
    from echomq_worker.store.rights import Needs  # noqa: PLC0415

    return f"```text\n{textwrap.fill(Needs(queues=('orders',)).acl_line(), 100)}\n```"


def clock_changes() -> str:
    """What cron rules do on the days on which clocks change."""
    from checks.time_table import clock_change_table  # noqa: PLC0415

    return clock_change_table()


def attribute_docstrings(cls: type) -> dict[str, str]:
    """Return the texts below the attributes of a class, which Python itself throws away."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    said: dict[str, str] = {}
    for before, after in itertools.pairwise(body):
        match before, after:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                said[name] = " ".join(text.split())
            case _:
                pass
    return said


GENERATORS: Mapping[str, Generator] = {
    "settings": settings_table,
    "lifecycle": state_diagram,
    "exit-codes": exit_codes,
    "limits": limits,
    "conditions": conditions,
    "doctor": doctor_checks,
    "acl": acl_rule,
    "clock-changes": clock_changes,
}


def tables(root: Path) -> list[str]:
    """Return the generated parts of the README that are missing or out of date."""
    readme = root / README
    if not readme.exists():
        return [f"{README} is missing"]
    return stale(readme.read_text(encoding="utf-8"), GENERATORS)


def write_tables(root: Path) -> list[str]:
    """Renew the generated parts of the README."""
    readme = root / README
    text = readme.read_text(encoding="utf-8")
    readme.write_text(renewed(text, GENERATORS), encoding="utf-8")
    return stale(renewed(text, GENERATORS), GENERATORS)


def stale(text: str, generators: Mapping[str, Generator]) -> list[str]:
    """Return what is wrong with the generated parts of a text."""
    found = {part["name"]: part["text"] for part in _PART.finditer(text)}
    problems = [
        f"nothing generates the part {name}" for name in sorted(set(found) - set(generators))
    ]
    for name, generate in generators.items():
        if name not in found:
            problems.append(
                f"no part {name}: put <!-- generated: {name} --> and <!-- end --> where it belongs"
            )
        elif found[name] != _framed(generate()):
            problems.append(
                f"the part {name} is out of date: run `python -m checks --write tables`"
            )
    if text.count("<!-- generated:") != len(found):
        problems.append("a generated part is named twice, or has no <!-- end -->")
    return problems


def renewed(text: str, generators: Mapping[str, Generator]) -> str:
    """Return the text with its generated parts renewed; those that nobody generates stay."""

    def renew(part: re.Match[str]) -> str:
        generate = generators.get(part["name"])
        inside = part["text"] if generate is None else _framed(generate())
        return part["open"] + inside + part["close"]

    return _PART.sub(renew, text)


def _framed(generated: str) -> str:
    return f"\n{generated.strip()}\n\n"
