import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from checks import __main__ as command
from checks.check import Check, Found, run_checks


def fine(_root: Path) -> list[str]:
    return []


def wanting(_root: Path) -> list[str]:
    return ["something is\nwrong"]


def broken(_root: Path) -> list[str]:
    msg = "cannot even look"
    raise RuntimeError(msg)


def telling(_root: Path) -> Found:
    return Found([], notes=["took 3 µs"])


def renew(root: Path) -> list[str]:
    (root / "renewed").write_text("yes")
    return []


ALL = (
    Check("fine", "holds", fine),
    Check("wanting", "does not hold", wanting, write=renew),
)


@pytest.fixture(autouse=True)
def own_checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(command, "CHECKS", ALL)
    monkeypatch.setattr(command, "ROOT", tmp_path)


def run(*arguments: str) -> int:
    return command.main(arguments)


def test_one_finding_fails_the_command_and_is_shown_below_its_check(
    capsys: pytest.CaptureFixture[str],
):
    assert run() == 1
    printed = capsys.readouterr().out
    assert "fine         ok" in printed
    assert "wanting      FAILED" in printed
    assert "    something is\n    wrong" in printed
    assert printed.endswith("failed: wanting\n")


def test_a_single_check_is_run_by_its_name(capsys: pytest.CaptureFixture[str]):
    assert run("fine") == 0
    assert "wanting" not in capsys.readouterr().out


def test_a_note_is_shown_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(command, "CHECKS", (Check("telling", "", telling),))
    assert run() == 0
    assert "    took 3 µs\n" in capsys.readouterr().out


def test_a_check_that_breaks_has_failed(tmp_path: Path):
    (report,) = run_checks([Check("broken", "", broken)], tmp_path)
    assert report.problems == ["the check itself broke: RuntimeError: cannot even look"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["finest"], "no check finest; there are fine, wanting"),
        (["--write"], "--write needs the names of checks that can: wanting"),
        (["--write", "fine"], "--write needs the names of checks that can: wanting"),
    ],
)
def test_a_wrong_call_says_what_is_possible(
    arguments: Sequence[str], said: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as left:
        run(*arguments)
    assert left.value.code == 2
    assert said in capsys.readouterr().err


def test_write_renews_instead_of_comparing(tmp_path: Path):
    assert run("--write", "wanting") == 0
    assert (tmp_path / "renewed").read_text() == "yes"


def test_the_list_says_what_each_check_holds(capsys: pytest.CaptureFixture[str]):
    assert run("--list") == 0
    assert capsys.readouterr().out == "fine         holds\nwanting      does not hold\n"


def test_two_checks_run_side_by_side(tmp_path: Path):
    seen: list[str] = []

    def first(_root: Path) -> list[str]:
        give_up = time.monotonic() + 10
        while "second" not in seen and time.monotonic() < give_up:
            time.sleep(0.001)
        return [] if seen == ["second"] else ["ran alone"]

    def second(_root: Path) -> list[str]:
        seen.append("second")
        return []

    reports = run_checks([Check("first", "", first), Check("second", "", second)], tmp_path)
    assert [report.problems for report in reports] == [[], []]
