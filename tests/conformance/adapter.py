"""What the checker of the golden vectors drives: one method a verb, by the package's own code.

The adapter sends no Redis command of its own.
"""

from tests.conformance.pure_verbs import PureVerbs
from tests.conformance.server_verbs import ServerVerbs


class Adapter(PureVerbs, ServerVerbs):
    """This package, in the words of the vectors."""
