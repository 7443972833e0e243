"""A score that learns from labelled rows of deployment which other scores to trust, and how much."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from abstain._cached_property import cached_property
from abstain.outputs import Outputs
from abstain.scores.combination import FittedCombination, fit_combination
from abstain.scores.held_out import fit_all, folds, held_out, some_rows
from abstain.scores.inputs import Inputs
from abstain.scores.logistic import weigh
from abstain.scores.operations import Array, Floats, array_namespace, constant
from abstain.scores.quantile_map import QuantileMap
from abstain.scores.score import About, CannotFitError, Family, FittedScore, Need, Score, Sizes

SHOWN = 5  # scores in a note


@final
@dataclass(frozen=True)
class Learned(Score):
    """Log-odds of being right, Σ w_s q_s + v_ŷ, of scores by their normal quantile q and of the predicted class ŷ.

    A logistic regression of what was right on rows held out, in which the mean quantile of the base is free, all else
    is shrunk to zero, and no score has a negative weight: `weigh`. So few rows give about the ranking of the base, and
    many a combination. The rows must be labelled and drawn like deployment, shifted conditions and unknown classes
    included. Of outputs without logits, it weighs the confidences of others, two or more, missing values allowed
    (`abstain.scores.combination`).

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
        """What the chosen scores need."""
        if isinstance(fitted, FittedCombination):
            return ("fitting", "labels")
        chosen = [score for score in (*self.base, *self.candidates, *self.anywhere) if score.name in fitted.names]
        return tuple(dict.fromkeys((*self.needs, *(need for score in chosen for need in score.needs))))

    def objection(self, outputs: Outputs, /) -> str | None:
        """Without logits, it weighs the confidences of others, of which there must be two."""
        if outputs.n_classes:
            return super().objection(outputs)
        return None if len(outputs.confidence_names) > 1 else "no logits and no two confidences"

    def _fit(self, sample: Outputs, /) -> FittedScore:
        """Weigh the scores by rows held out, then fit them on all rows; confidences of others where these are all."""
        rows = some_rows(sample)
        if not rows.n_classes:
            return fit_combination(rows)
        right = 1.0 - rows.losses
        inside, anywhere = (
            [score for score in scores if score.objection(rows) is None]
            for scores in ((*self.base, *self.candidates), self.anywhere)
        )
        fold = folds(rows)
        whole = fit_all(inside, anywhere, rows)
        held_out_values = {
            name: values for name, values in held_out(inside, anywhere, rows, fold).items() if name in whole
        }
        if not held_out_values:
            raise CannotFitError("the fitting sample determines none of the scores to learn from")
        maps = {name: QuantileMap.of(values) for name, values in held_out_values.items()}
        quantiles = np.column_stack([maps[name](values) for name, values in held_out_values.items()])
        base = max(sum(score.name in held_out_values for score in self.base), 1)
        weights = weigh(quantiles, rows.predictions, right, fold, base=base, classes=rows.n_classes)
        used = weights.scores > 0
        names = [name for name, is_used in zip(held_out_values, used, strict=True) if is_used]
        families: dict[str, Family] = {score.name: score.about.family for score in (*self.base, *self.candidates)}
        return FittedLearned(
            tuple(whole[name] for name in names),
            tuple(maps[name] for name in names),
            np.append(weights.intercept, weights.scores[used]),
            weights.others,
            quantiles[right > 0].mean(axis=0)[used] if right.any() else np.zeros(len(names)),
            tuple(names),
            tuple(families.get(name, "hybrid") for name in names),  # where it was wrong may be both
        )


@final
@dataclass(frozen=True, eq=False)
class FittedLearned(FittedScore):
    """A combination with its scores, their maps, and the weights (1 + s,), the intercept first."""

    scores: tuple[FittedScore, ...]
    maps: tuple[QuantileMap, ...]
    weights: Floats
    offsets: Floats
    """(K,) of the predicted classes, or none (0,)."""
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

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        own: Sizes = {"classes": len(self.offsets)} if len(self.offsets) else {}
        return super().expects() | own

    def formula(self, inputs: Inputs, /) -> Array:
        """Intercept plus weights times quantiles, plus what the predicted class adds."""
        log_odds = sum(self._parts(inputs)) + float(self.weights[0])
        if not len(self.offsets):
            return log_odds
        return log_odds + array_namespace(log_odds).take(constant(self.offsets, log_odds), inputs.predictions, axis=0)

    def _parts(self, inputs: Inputs) -> list[Array]:
        return [
            weight * quantile_of(inputs.confidence(score))
            for score, quantile_of, weight in zip(self.scores, self.maps, self.weights[1:].tolist(), strict=True)
        ]

    def shortfalls(self, inputs: Inputs, /) -> dict[Family, Array]:
        """By family of scores, how far their part (n,) is below that of rows that were right."""
        parts: dict[Family, Any] = {}
        usual = (self.weights[1:] * self.usual).tolist()
        for family, part, other in zip(self.families, self._parts(inputs), usual, strict=True):
            parts[family] = parts.get(family, 0.0) + (other - part)
        return parts

    def note(self, _: Floats, /) -> str:
        """Which scores carry the weight."""
        parts = sorted(zip(self.weights[1:].tolist(), self.names, strict=True), key=lambda part: -abs(part[0]))
        shown = [f"{name} {weight:+.2f}" for weight, name in parts[:SHOWN]]
        if len(parts) > SHOWN:
            shown.append(f"{len(parts) - SHOWN} other{'s' * (len(parts) > SHOWN + 1)} less")
        if len(self.offsets):
            shown.append(f"the predicted class by {self.offsets.min():+.2f} to {self.offsets.max():+.2f}")
        return f"learned weighs {', '.join(shown)}.".replace("-", "−")
