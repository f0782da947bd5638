"""What people read about settings, made from the declarations."""

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from textwrap import wrap

from echomq_worker.config.declare import Declaration, Group
from echomq_worker.config.settings import declarations

_TEMPLATE_HEAD = """\
# Settings of echomq-worker. Every line is optional: what is not set has the default shown.
# Durations: 30s, 500ms, 1h30m, or a number of seconds. Sizes: 512, 64KiB, 1MiB.
"""


def by_group() -> Iterator[tuple[Group, list[Declaration]]]:
    """Go through all settings under their headings."""
    order = list(Group)
    settings = sorted(declarations().values(), key=lambda setting: order.index(setting.group))
    for group, members in groupby(settings, key=attrgetter("group")):
        yield group, list(members)


def settings_table() -> str:
    """Return the README's table of settings in Markdown, one table under each heading."""
    parts: list[str] = []
    for group, settings in by_group():
        rows = [
            f"| `{each.variable}` | {_default(each)} | {_sentence(each)} |" for each in settings
        ]
        head = f"**{group}**\n\n| variable | default | what it does |\n|---|---|---|"
        parts.append("\n".join([head, *rows]))
    return "\n\n".join(parts) + "\n"


def env_template() -> str:
    """Return a commented file of every setting, for `--env-file`."""
    parts = [_TEMPLATE_HEAD]
    for group, settings in by_group():
        parts.append(f"\n# ---- {group} ----\n")
        for setting in settings:
            sentence = setting.doc + (f" Default: {setting.derived}." if setting.derived else "")
            comment = "\n".join(wrap(sentence, 96, initial_indent="# ", subsequent_indent="# "))
            if setting.secret:
                comment += f"\n# Secret: {setting.variable}_FILE may name a file that holds it."
            parts.append(f"\n{comment}\n# {setting.variable}={setting.default}\n")
    return "".join(parts)


def _default(setting: Declaration) -> str:
    if setting.derived:
        return setting.derived
    return f"`{setting.default}`" if setting.default else "none"


def _sentence(setting: Declaration) -> str:
    secret = f" Secret: may come from the file that `{setting.variable}_FILE` names."
    fallback = f" Falls back to `{setting.fallback}`." if setting.fallback else ""
    return setting.doc.replace("|", "\\|") + fallback + (secret if setting.secret else "")
