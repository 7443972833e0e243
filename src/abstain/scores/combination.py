"""Confidences of others, weighed by what labelled rows show of them: what `learned` is without logits."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from abstain._cached_property import cached_property
from abstain.outputs import Outputs
from abstain.scores.given_confidence import Given
from abstain.scores.held_out import folds
from abstain.scores.inputs import Inputs
from abstain.scores.logistic import weigh_columns
from abstain.scores.operations import Array, Floats
from abstain.scores.quantile_map import QuantileMap, known_quantiles
from abstain.scores.score import CannotFitError, Family, FittedScore

RIDGES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Weaker ones than for scores of one classifier, since signals of different sources repeat each other less."""


def fit_combination(rows: Outputs, /) -> "FittedCombination":
    """The weights of all confidences that vary, by their normal quantiles; a missing value has an offset of its own.

    A missing value stands at the median of its signal, and the offset, which may have either sign and is drawn to
    zero, is learned from the rows where it is missing.
    """
    signals = {name: rows.confidence(name) for name in sorted(rows.confidence_names)}
    signals = {name: values for name, values in signals.items() if _varies(values)}
    if not signals:
        raise CannotFitError("the fitting sample has no confidence that varies")
    maps = tuple(QuantileMap.of(values) for values in signals.values())
    quantiles = np.column_stack([known_quantiles(*part) for part in zip(maps, signals.values(), strict=True)])
    absent = np.column_stack([np.isnan(values) for values in signals.values()])
    some = absent.any(axis=0)
    weights = weigh_columns(
        quantiles, absent[:, some], 1 - rows.losses, folds(rows), base=quantiles.shape[1], ridges=RIDGES
    )
    offsets = np.zeros(len(maps))
    if len(weights.others):
        offsets[some] = weights.others
    return FittedCombination(
        tuple(signals), maps, np.append(weights.intercept, weights.scores), offsets, absent.mean(axis=0)
    )


@final
@dataclass(frozen=True, eq=False)
class FittedCombination(FittedScore):
    """Log-odds of being right: the intercept, weights times normal quantiles, and an offset for a missing value."""

    names: tuple[str, ...]
    maps: tuple[QuantileMap, ...]
    weights: Floats
    """(1 + s,) the intercept first; none of the others negative."""
    offsets: Floats
    """(s,) of a missing value."""
    missing: Floats
    """(s,) the share of the fitting rows without a value."""
    is_formula: ClassVar[bool] = False

    @cached_property
    def singles(self) -> dict[str, FittedScore]:
        """What it weighs."""
        return {name: Given(name) for name in self.names}

    def formula(self, inputs: Inputs, /) -> Array:
        """The sum of all parts; NaN, which is never accepted, where every signal is missing."""
        signals = [inputs.outputs.confidence(name) for name in self.names]
        total = np.full(len(signals[0]), float(self.weights[0]))
        parts = zip(signals, self.maps, self.weights[1:].tolist(), self.offsets.tolist(), strict=True)
        for values, quantile_map, weight, offset in parts:
            total += weight * known_quantiles(quantile_map, values) + offset * np.isnan(values)
        return np.where(np.isnan(signals).all(axis=0), np.nan, total)

    def shortfalls(self, inputs: Inputs, /) -> dict[Family, Any]:
        """All of it is that of the confidences given."""
        return {"given": -self.formula(inputs)}

    def note(self, _: Floats, /) -> str:
        """The weight of each signal, what a missing value adds, and the signals of weight 0."""
        parts = sorted(zip(self.weights[1:].tolist(), self.names, strict=True), key=lambda part: -part[0])
        words = f"learned weighs {', '.join(f'{name} {weight:+.2f}' for weight, name in parts if weight > 0)}."
        absent = [
            f"{name} is missing in {share:.1%} of the fitting rows, which counts {offset:+.2f}"
            for name, share, offset in zip(self.names, self.missing.tolist(), self.offsets.tolist(), strict=True)
            if share > 0
        ]
        words += "".join(f" {sentence}." for sentence in absent)
        idle = [name for weight, name in parts if weight <= 0]
        if idle:
            words += f" No weight: {', '.join(idle)}. If a lower value means more trust, give its negative."
        return words.replace("-", "−") if "-" not in "".join(self.names) else words


def _varies(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return bool(len(known)) and bool(known.max() > known.min())
