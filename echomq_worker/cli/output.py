"""Writing what a command found: a table for people, or a JSON object a line."""

import codecs
import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import click
import msgspec

from echomq_worker.domain.printable import printable

_GAP = "  "
_NARROWEST = 8


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading, and the key of its values in the rows."""

    title: str
    key: str
    right: bool = False
    """True for numbers."""


def write_rows(
    rows: Iterable[Mapping[str, object]],
    columns: Sequence[Column],
    *,
    as_json: bool,
    empty: str = "",
) -> None:
    """Write rows to standard output.

    Args:
        rows: values by key. The table shows those of `columns`, JSON all of them.
        columns: what the table shows.
        as_json: write one JSON object a line instead of a table.
        empty: said on standard error in place of an empty table.
    """
    if as_json:
        for row in rows:
            write_json(row)
        return
    cells = [[_cell(row.get(column.key)) for column in columns] for row in rows]
    if cells:
        click.echo("\n".join(table(columns, cells, _width())))
    elif empty:
        say(empty)


def write_pairs(record: Mapping[str, object], *, as_json: bool) -> None:
    """Write one thing: a line `key  value` for each of its keys, or one JSON object."""
    if as_json:
        write_json(record)
        return
    widest = max(map(len, record), default=0)
    for key, value in record.items():
        text = printable(_text(value), keep_lines=True)
        below = "\n" + " " * widest + _GAP
        click.echo(f"{key.ljust(widest)}{_GAP}{text.replace(chr(10), below)}".rstrip())


def write_json(value: Mapping[str, object]) -> None:
    """Write one JSON object and a line end to standard output."""
    try:
        text = msgspec.json.encode(value, enc_hook=str).decode()
    except UnicodeEncodeError:  # a name of a peer, in bytes that are no UTF-8
        text = json.dumps(value, default=str)
    # JSON is UTF-8; where that is not what the terminal reads, its own escapes always do.
    plain = text.isascii() or _encoding() == "utf-8"
    click.echo(text if plain else json.dumps(json.loads(text)))


def say(text: str) -> None:
    """Tell the user something that is not data: on standard error."""
    click.echo(printable(text), err=True)


def table(
    columns: Sequence[Column], cells: Sequence[Sequence[str]], width: int | None = None
) -> list[str]:
    """Return the lines of a table; only the last column is cut to fit into `width`."""
    titles = [column.title for column in columns]
    widths = [max(map(len, texts)) for texts in zip(titles, *cells, strict=True)]
    if width is not None:
        taken = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
        widths[-1] = min(widths[-1], max(_NARROWEST, width - taken))
    return [_line(row, columns, widths) for row in (titles, *cells)]


def _line(texts: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    shown = [
        (text if len(text) <= size else text[: size - 3] + "...").rjust(size)
        if column.right
        else (text if len(text) <= size else text[: size - 3] + "...").ljust(size)
        for text, column, size in zip(texts, columns, widths, strict=True)
    ]
    return _GAP.join(shown).rstrip()


def _cell(value: object) -> str:
    return printable(_text(value))


def _text(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case _:
            return str(value)


def _encoding() -> str:
    return codecs.lookup(sys.stdout.encoding or "utf-8").name


def _width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
