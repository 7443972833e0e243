"""Confidences that somebody else computed, and functions of outputs, as scores like any other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import as_doubles
from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.operations import Array
from abstain.scores.score import About, PlainScore


@final
@dataclass(frozen=True)
class Given(PlainScore):
    """The confidence given to `Outputs` under a name."""

    column: str
    named_by = ("column",)
    is_formula = False

    @property
    def about(self) -> About:
        """Under its own name."""
        return About(name=self.column, family="given", needs=(), reference="given with the outputs")

    def flaw(self, outputs: Outputs, /) -> str | None:
        """It must be there, in every row unless missing values are to be rejected."""
        if self.column not in outputs.confidence_names:
            return f"no confidence {self.column!r}"
        missing = np.count_nonzero(np.isnan(outputs.confidence(self.column)[outputs.usable]))
        if not missing or outputs.rejects_missing:
            return None
        return f"no {self.column} in {missing:,} of {len(outputs):,} rows: only learned takes missing values"

    def formula(self, inputs: Inputs, /) -> Array:
        """As it was given."""
        return inputs.outputs.confidence(self.column)


@final
@dataclass(frozen=True)
class Own(PlainScore):
    """A user's function from outputs to confidence (n,), each row judged by itself."""

    column: str
    function: Callable[[Outputs], ArrayLike]
    named_by = ("column", "function")
    is_formula = False
    is_stored = False

    @classmethod
    def of(cls, function: Callable[[Outputs], ArrayLike], /) -> "Own":
        """Under the name of the function."""
        return cls(str(getattr(function, "__name__", type(function).__name__)), function)

    @property
    def about(self) -> About:
        """The name, and the first line of the function's docstring."""
        doc = str(getattr(self.function, "__doc__", None) or "").strip()
        return About(name=self.column, family="own", needs=(), summary=doc.split("\n")[0], reference="a function")

    def formula(self, inputs: Inputs, /) -> Array:
        """What the function returns, checked."""
        n = len(inputs.outputs)
        confidence: Any = as_doubles(self.column, self.function(inputs.outputs))
        if confidence.shape != (n,):
            raise InvalidInputError(
                f"`{self.column}` must give a confidence for each of {n} rows, got shape {confidence.shape}."
            )
        return confidence
