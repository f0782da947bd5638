"""The entry point: one command, its errors in one line each, an exit code."""

import io
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from echomq_worker.errors import EchoMQError

BEGAN = time.monotonic()
"""When this process began to be ours, by the monotonic clock (in s)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `echomq` and return its exit code.

    Args:
        arguments: what follows the program's name; those of the process if None.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["health"]:  # a probe starts every few seconds: nothing else is loaded for it
        from echomq_worker import health  # noqa: PLC0415

        return health.main(given[1:])
    return _run(given)


def _run(given: list[str]) -> int:
    from echomq_worker.cli.exit_codes import ExitCode  # noqa: PLC0415 - not for probes
    from echomq_worker.cli.group import echomq  # noqa: PLC0415 - not for probes

    _write_anything()
    try:
        result = echomq.main(given, prog_name="echomq", standalone_mode=False)
    except Exception as error:  # noqa: BLE001 - the last place to say something
        return _explained(error, given)
    return result if isinstance(result, int) else ExitCode.OK


def _write_anything() -> None:
    # What the terminal's encoding lacks is escaped: it must not end a command halfway.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _explained(error: Exception, given: list[str]) -> int:
    import click  # noqa: PLC0415 - not for probes

    from echomq_worker.cli.exit_codes import ExitCode, exit_code  # noqa: PLC0415 - not for probes
    from echomq_worker.errors import EchoMQError  # noqa: PLC0415 - not for probes

    code: int = ExitCode.FAILED
    match error:
        case click.Abort(__context__=KeyboardInterrupt()):
            _say("stopped")
            code = ExitCode.INTERRUPTED
        case click.Abort():
            _say("nothing was done")
        case click.exceptions.NoArgsIsHelpError():
            _say(error.format_message())
            code = ExitCode.USAGE
        case click.UsageError(ctx=context):
            path = context.command_path if context else "echomq"
            _complain([error.format_message()], f"`{path} --help` says what is possible")
            code = ExitCode.USAGE
        case click.ClickException(exit_code=code):
            _complain([error.format_message()])
        case EchoMQError():
            _explain(error, given)
            code = exit_code(error)
        case _:
            _trace(error)
            _complain([f"unexpected {type(error).__name__}: {error}"])
    return code


def _explain(error: "EchoMQError", given: list[str]) -> None:
    if _debugging(given):
        _trace(error)
    problems = getattr(error, "problems", None) or [str(error)]
    _complain(problems, getattr(error, "hint", ""))
    for warning in getattr(error, "warnings", ()):
        _say(f"warning: {warning}")


def _complain(problems: Sequence[str], hint: str = "") -> None:
    for problem in problems:
        _say(f"error: {problem}")
    if hint:
        _say(f"hint: {hint}")


def _trace(error: BaseException) -> None:
    import traceback  # noqa: PLC0415 - only after an error

    # Python's own traceback shows no local variables.
    _say("".join(traceback.format_exception(error)).rstrip("\n"))


def _say(text: str) -> None:
    from echomq_worker.domain.printable import printable  # noqa: PLC0415 - not for probes
    from echomq_worker.domain.redaction import redact  # noqa: PLC0415 - not for probes

    sys.stdout.flush()
    sys.stderr.write(printable(redact(text), keep_lines=True) + "\n")
    sys.stderr.flush()


def _debugging(given: list[str]) -> bool:
    word = os.environ.get("ECHOMQ_DEBUG", "").strip().lower()
    return "--debug" in given or word in {"true", "1", "yes", "on"}
