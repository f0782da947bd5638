"""What the checker of the golden vectors drives: one method a verb, by the package's own code.

The adapter sends no Redis command of its own.
"""

from tests.conformance.batch_verbs import BatchVerbs
from tests.conformance.lane_verbs import LaneVerbs
from tests.conformance.operator_verbs import OperatorVerbs
from tests.conformance.pure_verbs import PureVerbs
from tests.conformance.repeat_verbs import RepeatVerbs


class Adapter(PureVerbs, RepeatVerbs, LaneVerbs, OperatorVerbs, BatchVerbs):
    """This package, in the words of the vectors."""
