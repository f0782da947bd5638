"""Finding the application that somebody has named as `module:attribute`."""

import importlib
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

from echomq_worker.app import EchoMQ
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.words import near_misses
from echomq_worker.worker import signals

MOST_NAMED = 10


def load_app(spec: str, app_dir: str) -> EchoMQ:
    """Import the application that `spec` names.

    Args:
        spec: `module:attribute`, such as `myproject.jobs:app`.
        app_dir: the folder to import from; it is put first on `sys.path`.

    Raises:
        CommandError: if there is no such module or attribute, if importing the module fails
            (its error is the cause; also if it exits), or if what is found is no application.
        SystemExit: if a signal asks this process to stop meanwhile.
    """
    module_name, _, attribute = spec.partition(":")
    folder = _on_path(app_dir)
    module = _import(module_name, folder)
    found: object = module
    for name in attribute.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            msg = f'"{module_name}" has no attribute "{name}".{_suggestion(module, name)}'
            raise CommandError(msg, ExitCode.CONFIG) from None
    if not isinstance(found, EchoMQ):
        msg = (
            f'"{spec}" is a {type(found).__name__}: expected an application, as made by '
            f"app = EchoMQ().{_suggestion(module, attribute)}"
        )
        raise CommandError(msg, ExitCode.CONFIG)
    return found


def _on_path(app_dir: str) -> Path:
    folder = Path(app_dir).resolve()
    if not folder.is_dir():
        msg = f"{folder} is no folder: set ECHOMQ_APP_DIR to the one to import from"
        raise CommandError(msg, ExitCode.CONFIG)
    if str(folder) not in sys.path[:1]:
        sys.path.insert(0, str(folder))
    return folder


def _import(name: str, folder: Path) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        own = error.name is not None and (name == error.name or name.startswith(f"{error.name}."))
        if not own:
            raise _broken(name, folder, error) from error
        msg = (
            f'cannot import "{name}": {error} (looked in {folder}). Run from the project root or '
            f"set ECHOMQ_APP_DIR"
        )
        raise CommandError(msg, ExitCode.CONFIG) from error
    except SystemExit as error:
        if _raised_by_signal(error):
            raise
        raise _broken(name, folder, error) from error
    except Exception as error:
        raise _broken(name, folder, error) from error


def _raised_by_signal(error: SystemExit) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename == signals.__file__


def _broken(name: str, folder: Path, error: BaseException) -> CommandError:
    told = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(f"{folder}{os.sep}")]
    place = f" ({own[-1].filename} line {own[-1].lineno})" if own else ""
    return CommandError(f'importing "{name}" failed: {told}{place}', ExitCode.CONFIG)


def _suggestion(module: ModuleType, name: str) -> str:
    apps = [key for key, value in vars(module).items() if isinstance(value, EchoMQ)]
    if apps:
        return (
            f" Did you mean {' or '.join(f'{module.__name__}:{app}' for app in apps[:MOST_NAMED])}?"
        )
    return near_misses(name, [key for key in vars(module) if not key.startswith("_")])
