"""Settings for a process that we start: the same as ours, except for what is said."""

from collections.abc import Mapping

from echomq_worker.config.declare import PREFIX
from echomq_worker.config.loading import Loaded
from echomq_worker.config.settings import declarations


def environment_of(
    loaded: Loaded, environ: Mapping[str, str], others: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a process with the settings of this one.

    It holds the password of the server, as the environment of any worker may: it is not to be
    shown.

    Args:
        loaded: the settings, wherever they came from.
        environ: this process's environment.
        others: texts by variable, for the settings in which the process is to differ.
    """
    fallbacks = {declaration.fallback for declaration in declarations().values()}
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(PREFIX) and name not in fallbacks
    }
    given = {
        declaration.variable: declaration.show(getattr(loaded.settings, attribute))
        for attribute, declaration in declarations().items()
        if loaded.given(attribute) and not declaration.secret
    }
    address = {f"{PREFIX}REDIS_URL": loaded.settings.redis_url.for_client()}
    return kept | given | address | dict(others)
