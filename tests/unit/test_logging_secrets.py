"""No secret and no local variable reaches a log."""

import logging

import pytest
import structlog

from tests.support.logs import Stream, configured

pytestmark = pytest.mark.usefixtures("untouched_logging")


def fail_with_secret_local() -> None:
    password = "hunter2-local"  # noqa: S105
    argument = {"card": "4111-secret-argument"}
    if password and argument:
        reason = "it broke"
        raise RuntimeError(reason)


@pytest.mark.parametrize("log_format", ["json", "console", "logfmt"])
@pytest.mark.parametrize("terminal", [True, False])
def test_no_format_shows_local_variables_in_a_traceback(log_format: str, terminal: bool):  # noqa: FBT001
    stream = configured(Stream(terminal=terminal), log_format=log_format, log_level="debug")
    try:
        fail_with_secret_local()
    except RuntimeError:
        structlog.get_logger().exception("job.undecided")
        structlog.get_logger().error("job.buried", exc_info=True)
        logging.getLogger("lib").exception("foreign")

    assert stream.text.count("fail_with_secret_local") >= 3
    assert "it broke" in stream.text
    assert "hunter2" not in stream.text
    assert "4111" not in stream.text


def test_an_exception_in_json_is_data_with_its_causes():
    stream = configured()
    error = ValueError("redis://:s3cr3t@h is down")
    try:
        fail_with_secret_local()
    except RuntimeError as cause:
        error.__cause__ = cause
    structlog.get_logger().warning("job.failed", exc_info=error)

    (line,) = stream.lines
    exception = line["exception"]
    assert isinstance(exception, list)
    assert [part["exc_type"] for part in exception] == ["ValueError", "RuntimeError"]  # pyright: ignore[reportUnknownVariableType]
    assert "s3cr3t" not in stream.text
    assert "redis://:***@h is down" in stream.text


def test_a_deep_traceback_is_trimmed():
    def deeper(levels: int) -> None:
        if levels:
            deeper(levels - 1)
        raise ValueError

    stream = configured()
    try:
        deeper(200)
    except ValueError:
        structlog.get_logger().exception("deep")

    (exception,) = stream.lines[0]["exception"]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
    assert len(exception["frames"]) <= 31  # pyright: ignore[reportUnknownArgumentType]


@pytest.mark.parametrize("log_format", ["json", "console", "logfmt"])
def test_secrets_are_hidden_by_name_by_shape_and_by_value(log_format: str):
    stream = configured(log_format=log_format, redis_password="pa/ss-w0rd")  # noqa: S106
    log = structlog.get_logger()
    log.warning("connecting", url="rediss://app:s3cr3t@h/0", auth_token="s3cr3t")  # noqa: S106
    log.warning("WRONGPASS for pa/ss-w0rd", nested={"list": [{"Password": "s3cr3t"}]})
    log.warning("shown", error=ValueError("valkey://:s3cr3t@h"), form=b"x?token=s3cr3t")
    logging.getLogger("redis").warning("cannot reach redis://:s3cr3t@h")
    log.error("failed", exc_info=OSError("redis://:s3cr3t@h and pa/ss-w0rd"))

    assert "s3cr3t" not in stream.text
    assert "w0rd" not in stream.text
    assert stream.text.count("***") >= 8


def test_the_names_to_hide_are_a_setting():
    stream = configured(redact_keys=("iban",))
    structlog.get_logger().info("x", user_iban="DE00", token="shown")  # noqa: S106

    assert stream.lines[0]["user_iban"] == "***"
    assert stream.lines[0]["token"] == "shown"  # noqa: S105
