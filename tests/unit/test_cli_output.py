"""Tables for people and lines of JSON for programs."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from echomq_worker.cli import output
from echomq_worker.cli.output import Column, table, write_pairs, write_rows

FACE = "\U0001f600".encode()

COLUMNS = [Column("NAME", "name"), Column("N", "n", right=True), Column("ERROR", "error")]
ROWS: list[dict[str, object]] = [
    {"name": "email.send", "n": 12, "error": "x" * 100, "extra": 1},
    {"name": "a", "n": None, "error": True},
]


def test_a_table_is_aligned_with_numbers_to_the_right(capsys: pytest.CaptureFixture[str]):
    write_rows(ROWS, COLUMNS, as_json=False)

    assert capsys.readouterr().out.splitlines() == [
        "NAME         N  ERROR",
        "email.send  12  " + "x" * 100,
        "a            -  yes",
    ]


@pytest.mark.parametrize(
    ("encoding", "face"),
    # For a terminal that claims to know ASCII only, click writes UTF-8 all the same.
    [("latin-1", b"\\U0001f600"), ("ascii", FACE), ("utf-8", FACE)],
)
def test_what_an_encoding_lacks_is_escaped(encoding: str, face: bytes):
    code = (
        "from echomq_worker.cli import group, main, output\n"
        "import click\n"
        "@click.command()\n"
        "def odd():\n"
        "    output.write_json({'text': '\\u00e9\\U0001f600'})\n"
        "    click.echo('\\U0001f600')\n"
        "    output.say('\\U0001f600')\n"
        "group.echomq = odd\n"
        "raise SystemExit(main.main([]))\n"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code],
        env={"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    record, text = done.stdout.splitlines()
    assert json.loads(record) == {"text": "\u00e9\U0001f600"}
    assert text == done.stderr.strip() == face


def test_on_a_terminal_the_last_column_is_cut_to_its_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(
        output.shutil, "get_terminal_size", lambda: os.terminal_size((30, 24)), raising=True
    )
    write_rows(ROWS, COLUMNS, as_json=False)
    lines = capsys.readouterr().out.splitlines()

    assert lines[1] == "email.send  12  xxxxxxxxxxx..."
    assert max(map(len, lines)) == 30


def test_even_the_narrowest_terminal_gets_a_table():
    lines = table(COLUMNS, [["email.send", "12", "x" * 100]], 10)

    assert lines[1] == "email.send  12  xxxxx..."


def test_json_has_every_key_and_one_object_a_line(capsys: pytest.CaptureFixture[str]):
    rows = [*ROWS, {"at": datetime(2026, 11, 30, tzinfo=UTC), "text": "a\nb\u2028", "raw": b"x"}]
    write_rows(rows, COLUMNS, as_json=True)
    lines = capsys.readouterr().out.split("\n")[:-1]

    assert len(lines) == 3
    assert json.loads(lines[0])["extra"] == 1
    assert json.loads(lines[2])["at"] == "2026-11-30T00:00:00Z"


def test_an_empty_table_is_said_on_standard_error(capsys: pytest.CaptureFixture[str]):
    write_rows([], COLUMNS, as_json=False, empty="no dead jobs")
    assert capsys.readouterr() == ("", "no dead jobs\n")
    write_rows([], COLUMNS, as_json=True, empty="no dead jobs")
    assert capsys.readouterr() == ("", "")


HOSTILE = "\x1b[2J\rnew\nline\x9b"


def test_what_jobs_say_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]):
    write_rows([{"name": HOSTILE, "n": 1, "error": HOSTILE}], COLUMNS, as_json=False)
    write_pairs({"error": HOSTILE, "raw": HOSTILE.encode()}, as_json=False)
    shown = capsys.readouterr().out

    assert not set("\x1b\r\x9b") & set(shown)
    assert len(shown.splitlines()) == 6


def test_one_thing_is_shown_as_pairs_with_long_texts_below_each_other(
    capsys: pytest.CaptureFixture[str],
):
    write_pairs({"id": "JOB1", "traceback": "a\nb", "gone": None}, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "id         JOB1",
        "traceback  a",
        "           b",
        "gone       -",
    ]
    write_pairs({"id": "JOB1", "gone": None}, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"id": "JOB1", "gone": None}
