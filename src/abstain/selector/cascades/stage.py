"""A model of a cascade; the confidence and the outputs of several of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.outputs import Outputs
from abstain.scores.score import FittedScore, Score, Stored
from abstain.selector.cascades.matching import MatchedRows

NAME = "cascade"  # of the confidence


@final
@dataclass(frozen=True)
class Stage(Stored):
    """A model of a cascade: its name, how its answers are scored, and its cost."""

    name: str
    entry: Score
    """The score with its options."""
    fitted: FittedScore
    n_classes: int
    cost: float
    """Of running it on one row."""


def stage_confidence(stages: Sequence[Stage], matched: MatchedRows, /) -> NDArray[np.float64]:
    """(n, K) the confidence of each stage in its own answer, NaN where it is not finite or was not run."""
    columns = np.full((len(matched), len(stages)), np.nan)
    for number, stage in enumerate(stages):
        matched.check_classes(number, stage.n_classes)
        if (here := matched.is_present(number)).any():
            columns[here, number] = stage.fitted(matched.of_stage(number))
    return columns


def combined_outputs(
    matched: MatchedRows,
    stages: NDArray[np.int64],
    confidence: NDArray[np.float64],
    /,
    *,
    domain: ArrayLike | None = None,
) -> Outputs:
    """One classifier's outputs: the logits and the label of each row are those of its stage, by default its domain.

    Where stages have no classes in common, or no labels, the errors or losses of each stage are given instead.
    """
    first, labels = matched.first, matched.labels
    fields: dict[str, Any] = {"ids": first.ids, "shift": first.shift}
    n_classes = {outputs.n_classes for outputs in matched.outputs}
    if len(n_classes) == 1 and 0 not in n_classes:
        logits = _of_own_stage(matched, stages, [outputs.logits for outputs in matched.outputs])
        fields |= {"logits": logits, "labels": labels, "class_names": first.class_names}
    if fields.get("labels") is None and all(outputs.is_labelled for outputs in matched.outputs):
        graded = any(outputs.is_graded for outputs in matched.outputs)
        losses = _of_own_stage(matched, stages, [outputs.losses for outputs in matched.outputs])
        fields["losses" if graded else "errors"] = losses.astype(float if graded else bool)
    domain = np.array(matched.names)[stages] if domain is None else domain
    return Outputs(confidences={NAME: confidence}, domain=domain, nonfinite="reject", **fields)


def _of_own_stage(matched: MatchedRows, stages: NDArray[np.int64], values: list[NDArray[Any]]) -> NDArray[Any]:
    """(n, …) for each row the value of its stage, of those of all stages."""
    chosen = np.empty((len(matched), *values[0].shape[1:]), dtype=np.result_type(*values))
    for stage, of_stage in enumerate(values):
        here = stages == stage
        chosen[here] = of_stage[matched.rows[stage][here]]
    return chosen
