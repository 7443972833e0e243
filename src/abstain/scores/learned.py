"""A score that learns from labelled rows of deployment which other scores to trust, and how much."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain.outputs import Outputs
from abstain.scores.given_confidence import Given
from abstain.scores.held_out import fit_all, folds, held_out, some_rows
from abstain.scores.inputs import Inputs
from abstain.scores.logistic import weigh, weigh_columns
from abstain.scores.operations import Array, array_namespace, constant
from abstain.scores.quantile_map import QuantileMap
from abstain.scores.score import About, CannotFitError, Family, FittedScore, Need, Score, Sizes

SHOWN = 5  # scores in a note
RIDGES_OF_GIVEN = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Weaker ones than for scores of one classifier, since signals of different sources repeat each other less."""


@final
@dataclass(frozen=True)
class Learned(Score):
    """Log-odds of being right, Σ w_s q_s + v_ŷ, of scores by their normal quantile q and of the predicted class ŷ.

    A logistic regression of what was right on rows held out, in which the mean quantile of the base is free, all else
    is shrunk to zero, and no score has a negative weight: `weigh`. So few rows give about the ranking of the base, and
    many a combination. The rows must be labelled and drawn like deployment, shifted conditions and unknown classes
    included. Of outputs without logits, it weighs the confidences of others, two or more, by their values in all rows.
    A missing value stands at the median, and its offset, of either sign, is learned from the rows where it is missing.

    Parameters
    ----------
    base : tuple of Score
        Fitted on in-distribution rows, as the candidates are; their mean quantile is what it starts from.
    candidates : tuple of Score
        Other scores to weigh.
    anywhere : tuple of Score
        Scores of right and wrong, fitted on rows of every kind.
    """

    base: tuple[Score, ...]
    candidates: tuple[Score, ...] = ()
    anywhere: tuple[Score, ...] = ()
    named_by = ("base", "candidates", "anywhere")
    fits_on_shifted = True
    on_request = True
    fitting_share = 0.3

    about = About(
        name="learned",
        symbol="Learned",
        family="hybrid",
        needs=("logits", "fitting", "labels"),
        reference="this library",
        summary="Scores and the predicted class, weighed by what labelled rows of deployment show of them.",
    )

    def literal(self, confidence: Array, /) -> Array:
        """The chance of being right."""
        return 1 / (1 + array_namespace(confidence).exp(-confidence))

    def needs_of(self, fitted: Any, /) -> tuple[Need, ...]:
        """What the chosen scores need; confidences of others need nothing."""
        if fitted.is_of_given:
            return ("fitting", "labels")
        chosen = [score for score in (*self.base, *self.candidates, *self.anywhere) if score.name in fitted.names]
        return tuple(dict.fromkeys((*self.needs, *(need for score in chosen for need in score.needs))))

    def objection(self, outputs: Outputs, /) -> str | None:
        """Without logits, it weighs the confidences of others, of which there must be two."""
        if outputs.n_classes:
            return super().objection(outputs)
        return None if len(outputs.confidence_names) > 1 else "no logits and no two confidences"

    def _fit(self, sample: Outputs, /) -> "FittedLearned":
        """Weigh the scores by rows held out, then fit them on all rows; confidences of others are as they are."""
        rows = some_rows(sample)
        right, fold = 1.0 - rows.losses, folds(rows)
        scores, values = self._held_out(rows, fold) if rows.n_classes else _given(rows)
        maps = {name: QuantileMap.of(confidence) for name, confidence in values.items()}
        quantiles = np.column_stack([np.nan_to_num(maps[name](confidence)) for name, confidence in values.items()])
        if rows.n_classes:
            base = max(sum(score.name in values for score in self.base), 1)
            weights = weigh(quantiles, rows.predictions, right, fold, base=base, classes=rows.n_classes)
            used, offsets = weights.scores > 0, weights.others
            missing = missing_offsets = np.zeros(0)
        else:
            absent = np.isnan(np.column_stack(list(values.values())))
            missing = absent.mean(axis=0)
            weights = weigh_columns(
                quantiles, absent[:, missing > 0], right, fold, base=len(values), ridges=RIDGES_OF_GIVEN
            )
            used, offsets = np.ones(len(values), dtype=bool), np.zeros(0)
            missing_offsets = np.zeros(len(values))
            missing_offsets[missing > 0] = weights.others if len(weights.others) else 0.0
        names = [name for name, is_used in zip(values, used, strict=True) if is_used]
        families: dict[str, Family] = dict.fromkeys(values, "given")
        if rows.n_classes:
            families = {score.name: score.about.family for score in (*self.base, *self.candidates)}
        return FittedLearned(
            tuple(scores[name] for name in names),
            tuple(maps[name] for name in names),
            np.append(weights.intercept, weights.scores[used]),
            offsets,
            missing,
            missing_offsets,
            quantiles[right > 0].mean(axis=0)[used] if right.any() else np.zeros(len(names)),
            tuple(names),
            tuple(families.get(name, "hybrid") for name in names),  # where it was wrong may be both
        )

    def _held_out(self, rows: Outputs, fold: NDArray[np.int64]) -> tuple[dict[str, FittedScore], dict[str, Floats]]:
        """The scores that the rows determine, fitted on all of them, and confidences (n,) by fits on other folds."""
        inside, anywhere = (
            [score for score in scores if score.objection(rows) is None]
            for scores in ((*self.base, *self.candidates), self.anywhere)
        )
        scores = fit_all(inside, anywhere, rows)
        values = {name: each for name, each in held_out(inside, anywhere, rows, fold).items() if name in scores}
        if not values:
            raise CannotFitError("the fitting sample determines none of the scores to learn from")
        return scores, values


def _given(rows: Outputs) -> tuple[dict[str, FittedScore], dict[str, Floats]]:
    """The confidences of others that vary, as scores and as values (n,)."""
    every = {name: rows.confidence(name) for name in sorted(rows.confidence_names)}
    values = {name: each for name, each in every.items() if len(np.unique(each[~np.isnan(each)])) > 1}
    if not values:
        raise CannotFitError("the fitting sample has no confidence that varies")
    return {name: Given(name) for name in values}, values


@final
@dataclass(frozen=True, eq=False)
class FittedLearned(FittedScore):
    """A combination with its scores, their maps, and the weights (1 + s,), the intercept first."""

    scores: tuple[FittedScore, ...]
    maps: tuple[QuantileMap, ...]
    weights: Floats
    offsets: Floats
    """(K,) of the predicted classes, or none (0,)."""
    missing: Floats
    """(s,) the share of the fitting rows without a value, or none (0,) where every row has all values."""
    missing_offsets: Floats
    """(s,) what a missing value adds, or none (0,)."""
    usual: Floats
    """(s,) the mean quantile of rows that were right."""
    names: tuple[str, ...]
    families: tuple[Family, ...]

    @property
    def uses_head(self) -> bool:  # type: ignore[override]  # one that its parts decide
        """Whether one of the scores does."""
        return any(score.uses_head for score in self.scores)

    @property
    def is_formula(self) -> bool:  # type: ignore[override]
        """Whether all of the scores are."""
        return all(score.is_formula for score in self.scores)

    @cached_property
    def singles(self) -> dict[str, FittedScore]:
        """What it weighs."""
        return dict(zip(self.names, self.scores, strict=True))

    @property
    def is_of_given(self) -> bool:
        """Whether it weighs confidences of others, of which some may be missing."""
        return len(self.missing_offsets) > 0

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        own: Sizes = {"classes": len(self.offsets)} if len(self.offsets) else {}
        return super().expects() | own

    def formula(self, inputs: Inputs, /) -> Array:
        """The sum of all parts; NaN, which is never accepted, where every value is missing."""
        log_odds = sum(self._parts(inputs)) + float(self.weights[0])
        if self.is_of_given:
            is_missing = np.all([np.isnan(inputs.confidence(score)) for score in self.scores], axis=0)
            return np.where(is_missing, np.nan, log_odds)
        if not len(self.offsets):
            return log_odds
        return log_odds + array_namespace(log_odds).take(constant(self.offsets, log_odds), inputs.predictions, axis=0)

    def _parts(self, inputs: Inputs) -> list[Array]:
        """(n,) each weight times the quantile, or the offset of a missing value."""
        parts = [
            weight * quantile_of(inputs.confidence(score))
            for score, quantile_of, weight in zip(self.scores, self.maps, self.weights[1:].tolist(), strict=True)
        ]
        if not self.is_of_given:
            return parts
        return [
            np.where(np.isnan(part), offset, part)
            for part, offset in zip(parts, self.missing_offsets.tolist(), strict=True)
        ]

    def shortfalls(self, inputs: Inputs, /) -> dict[Family, Array]:
        """By family of scores, how far their part (n,) is below that of rows that were right."""
        parts: dict[Family, Any] = {}
        usual = (self.weights[1:] * self.usual).tolist()
        for family, part, other in zip(self.families, self._parts(inputs), usual, strict=True):
            parts[family] = parts.get(family, 0.0) + (other - part)
        return parts

    def note(self, _: Floats, /) -> str:
        """The largest weights, what a missing value adds, and the signals of weight 0."""
        parts = sorted(zip(self.weights[1:].tolist(), self.names, strict=True), key=lambda part: -part[0])
        used = [f"{name} {_signed(weight)}" for weight, name in parts if weight > 0]
        shown = used[:SHOWN]
        if len(used) > SHOWN:
            shown.append(f"{len(used) - SHOWN} other{'s' * (len(used) > SHOWN + 1)} less")
        if len(self.offsets):
            least, most = _signed(self.offsets.min()), _signed(self.offsets.max())
            shown.append(f"the predicted class by {least} to {most}")
        words = [f"learned weighs {', '.join(shown)}."]
        words += [
            f"{name} is missing in {share:.1%} of the fitting rows, which counts {_signed(offset)}."
            for name, share, offset in zip(self.names, self.missing, self.missing_offsets, strict=False)
            if share > 0
        ]
        if idle := [name for weight, name in parts if weight <= 0]:
            words.append(f"No weight: {', '.join(idle)}. If a lower value means more trust, give its negative.")
        return " ".join(words)


def _signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "−")
