"""Log lines: one stream, one format."""

import logging
import subprocess
import sys
import threading
import time
import warnings

import pytest
import structlog

from echomq_worker.domain.limits import LOG_TEXT
from echomq_worker.observe.sink import Sink
from tests.support.logs import Stream, configured

pytestmark = pytest.mark.usefixtures("untouched_logging")


def test_a_line_is_one_json_object_that_begins_with_when_how_bad_and_what():
    stream = configured()
    structlog.get_logger("echomq.worker").info("job.completed", queue="mail", duration=0.182)

    (line,) = stream.lines
    assert list(line) == ["timestamp", "level", "event", "logger", "worker", "queue", "duration"]
    assert line["level"] == "info"
    assert line["event"] == "job.completed"
    assert (line["logger"], line["worker"]) == ("echomq.worker", "w:1")
    assert (line["queue"], line["duration"]) == ("mail", 0.182)


def test_the_timestamp_is_utc_with_milliseconds():
    stream = configured()
    before = time.time()
    structlog.get_logger().info("now")
    stamp = str(stream.lines[0]["timestamp"])

    assert len(stamp) == len("2026-11-30T18:00:01.204Z")
    written = time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")
    assert int(before) <= _unix(written) <= int(time.time())


def _unix(utc: time.struct_time) -> int:
    import calendar  # noqa: PLC0415 - the inverse of gmtime lives here only

    return calendar.timegm(utc)


def test_lines_below_the_level_are_not_written():
    stream = configured(log_level="warning")
    log = structlog.get_logger()
    log.info("quiet")
    log.warning("loud")
    logging.getLogger("lib").info("quiet")
    logging.getLogger("lib").error("loud")

    assert [line["event"] for line in stream.lines] == ["loud", "loud"]


def test_single_loggers_have_levels_of_their_own_and_so_have_those_below_them():
    stream = configured(log_levels=(("myapp", "debug"), ("dull", "error")))
    for name in ("myapp", "myapp.mail", "myapplication", "dull.core"):
        structlog.get_logger(name).debug("native debug")
        structlog.get_logger(name).warning("native warning")
        logging.getLogger(name).debug("foreign debug")
        logging.getLogger(name).warning("foreign warning")

    seen = {(line["logger"], line["event"]) for line in stream.lines}
    both = {"native debug", "native warning", "foreign debug", "foreign warning"}
    assert {event for name, event in seen if name == "myapp"} == both
    assert {event for name, event in seen if name == "myapp.mail"} == both
    assert {event for name, event in seen if name == "myapplication"} == {
        "native warning",
        "foreign warning",
    }
    assert not {event for name, event in seen if name == "dull.core"}


def test_what_is_bound_for_a_job_is_on_every_line_also_on_those_of_other_libraries():
    stream = configured()
    with structlog.contextvars.bound_contextvars(job_id="JOB0NsUH6L9tuD", attempt=2):
        structlog.get_logger().info("ours")
        logging.getLogger("lib").warning("theirs")
    structlog.get_logger().info("after")

    ours, theirs, after = stream.lines
    assert ours["job_id"] == theirs["job_id"] == "JOB0NsUH6L9tuD"
    assert theirs["attempt"] == 2
    assert "job_id" not in after


def test_records_of_other_libraries_look_like_ours():
    stream = configured()
    logging.getLogger("lib.part").warning("lost %d of %s", 3, "them", extra={"host": "h"})

    (line,) = stream.lines
    assert line["event"] == "lost 3 of them"
    assert (line["level"], line["logger"], line["worker"]) == ("warning", "lib.part", "w:1")
    assert line["host"] == "h"


def test_a_record_that_cannot_be_rendered_is_told_of_and_hurts_nobody():
    stream = configured()
    logging.getLogger("lib").warning("%d", "not a number")

    (line,) = stream.lines
    assert line["event"] == "log.record_unusable"
    assert line["logger"] == "lib"


def test_warnings_of_python_are_lines_as_well():
    stream = configured()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        logging.captureWarnings(capture=False)
        logging.captureWarnings(capture=True)
        warnings.warn("old habit", DeprecationWarning, stacklevel=1)

    assert "old habit" in str(stream.lines[0]["event"])
    assert stream.lines[0]["logger"] == "py.warnings"


def test_a_very_long_text_is_cut():
    stream = configured()
    structlog.get_logger().info("x", text="a" * (LOG_TEXT + 5))

    assert str(stream.lines[0]["text"]).endswith("aaa... (5 more characters)")


@pytest.mark.parametrize("log_format", ["json", "logfmt", "console"])
def test_an_exception_with_a_huge_message_is_a_line_of_bearable_length(log_format: str):
    secret = "redis://:" + "s3cr3t" * 20 + "@host "
    error = RuntimeError("x" * 1_950 + secret + "x" * 1_000_000)
    cause = ValueError("y" * 1_000_000)
    try:
        raise cause
    except ValueError:
        error.__cause__ = cause
    stream = configured(log_format=log_format)
    structlog.get_logger().error("broken", exc_info=error)

    assert "RuntimeError" in stream.text
    assert "... (" in stream.text
    assert "s3cr3t" not in stream.text, "a secret that is cut in two is still one"
    assert "yyy... (" in stream.text
    assert len(stream.text) < 20_000


def test_anything_can_be_logged():
    class Odd:
        def __str__(self) -> str:
            raise ValueError

    stream = configured()
    structlog.get_logger().info(
        "x", odd=Odd(), half="\ud800", big=1 << 80, nan=float("nan"), keys={1: {2, 3}}, data=b"\xff"
    )

    (line,) = stream.lines
    assert "Odd" in str(line["odd"])
    assert line["half"] == "\ud800"
    assert (line["big"], line["nan"], line["data"]) == (1 << 80, None, "\\xff")
    assert line["keys"] == {"1": [2, 3]}


@pytest.mark.parametrize(
    ("log_format", "terminal", "is_json"),
    [("auto", True, False), ("auto", False, True), ("json", True, True), ("console", False, False)],
)
def test_a_terminal_gets_lines_for_people_and_anything_else_json(
    log_format: str,
    terminal: bool,  # noqa: FBT001
    is_json: bool,  # noqa: FBT001
):
    stream = configured(Stream(terminal=terminal), log_format=log_format)
    structlog.get_logger().info("hello")

    assert stream.text.startswith("{") == is_json


def test_a_stream_that_has_gone_away_loses_lines_and_nothing_else():
    stream = configured()
    log = structlog.get_logger()
    stream.close()

    log.info("into the void")
    logging.getLogger("lib").warning("too")

    assert stream.closed


def test_lines_of_many_threads_do_not_mix():
    class Slow(Stream):
        def write(self, data: bytes) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
            half = len(data) // 2
            super().write(data[:half])
            time.sleep(0)
            return super().write(data[half:])

    stream = Slow()
    sink = Sink(stream)

    def write(name: bytes) -> None:
        for _ in range(50):
            sink.write(name * 50)

    threads = [threading.Thread(target=write, args=[name]) for name in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {len(set(line)) for line in stream.text.splitlines()} == {1}
    assert len(stream.text.splitlines()) == 150


@pytest.mark.parametrize("module", ["echomq_worker.observe", "echomq_worker.config"])
def test_importing_configures_nothing(module: str):
    check = (
        f"import logging, {module}, structlog; "
        "assert not structlog.is_configured(); assert not logging.getLogger().handlers"
    )
    done = subprocess.run([sys.executable, "-c", check], check=False, capture_output=True)  # noqa: S603

    assert done.returncode == 0, done.stderr.decode()


def test_configuring_again_replaces_what_was_there(capsys: pytest.CaptureFixture[str]):
    first, second = configured(), configured()
    structlog.get_logger().info("once")
    logging.getLogger("lib").warning("once")

    assert first.text == ""
    assert len(second.lines) == 2
    assert capsys.readouterr().out == ""
