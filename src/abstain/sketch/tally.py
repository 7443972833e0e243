"""Count batch after batch in bounded memory."""

from typing import final

from numpy.typing import ArrayLike

from abstain.outputs import Outputs
from abstain.sketch.plan import Plan
from abstain.sketch.sketch import Sketch, merge

CELLS = 1 << 20  # that may wait to be merged


@final
class Tally:
    """A sketch in the making: batches come in, parts are merged as they pile up.

    >>> tally = Tally(Sketch.of([0.5], [0]).plan)
    >>> for confidence in (0.9, 0.8, 0.1):
    ...     tally.add(Sketch.of([confidence], [confidence < 0.5]))
    >>> tally.sketch().n
    3
    """

    def __init__(self, plan: Plan, /) -> None:
        self._parts = [Sketch.empty(plan)]
        self._waiting = 0

    @property
    def plan(self) -> Plan:
        """What is counted, and how."""
        return self._parts[0].plan

    def update(self, outputs: Outputs, /, *, numbers: ArrayLike | None = None) -> None:
        """Count the rows of outputs; ``numbers`` (n,) tell rows without ids apart, their place by default."""
        self.add(Sketch.of_outputs(self.plan, outputs, numbers=numbers))

    def add(self, part: Sketch, /) -> None:
        """Take in a sketch of other rows."""
        self._parts.append(part)
        self._waiting += part.n_cells
        if self._waiting > max(CELLS, self._parts[0].n_cells):
            self.sketch()

    def sketch(self) -> Sketch:
        """The sketch of all rows so far."""
        if len(self._parts) > 1:
            self._parts, self._waiting = [merge(self._parts)], 0
        return self._parts[0]
