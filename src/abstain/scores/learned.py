"""A score that learns from labelled rows of deployment which other scores to trust, and how much."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.draws import generator
from abstain.outputs import Outputs
from abstain.scores.confidences import confidences
from abstain.scores.inputs import Inputs
from abstain.scores.logistic import fit_logistic, log_losses
from abstain.scores.namespace import array_namespace
from abstain.scores.quantile_map import QuantileMap
from abstain.scores.rows import Array
from abstain.scores.score import About, CannotFitError, Family, FittedScore, Need, Score, Sizes

Floats = NDArray[np.float64]
FOLDS = 5
MOST = 5  # scores in a combination
RIDGE = 1.0
LARGEST = 10_000  # rows: more do not make it better, but slower
FEWEST = 5  # right and wrong rows that a choice takes
FLATTEST = 0.01  # weight of a score alone: no rows turn it around


@final
@dataclass(frozen=True)
class Learned(Score):
    """Log-odds of being right, Σ w_s q_s: a few scores, each by its place q among the rows it was learned from.

    Scores join one by one, as long as each lowers the log-loss of rows that were held out by more than its standard
    error; to begin with there is the first candidate alone, or one that beats it by as much. So few rows give the
    order of the first candidate back, and many a combination. The rows must be labelled and drawn like deployment:
    those of shifted conditions and unknown classes are what it learns from.
    """

    candidates: tuple[Score, ...]
    """The first is what it falls back to."""
    named_by = ("candidates",)
    fits_on_shifted = True
    on_request = True

    about = About(
        name="learned",
        symbol="Learned",
        family="hybrid",
        needs=("logits", "fitting", "labels"),
        reference="this library",
        summary="A few scores, weighed by what labelled rows of deployment show of them.",
    )

    def literal(self, confidence: Array, /) -> Array:
        """The chance of being right."""
        return 1 / (1 + array_namespace(confidence).exp(-confidence))

    def needs_of(self, fitted: Any, /) -> tuple[Need, ...]:
        """What the chosen scores need."""
        chosen = [score for score in self.candidates if score.name in fitted.names]
        return tuple(dict.fromkeys((*self.needs, *(need for score in chosen for need in score.needs))))

    def shortfalls(self, fitted: Any, inputs: Inputs, /) -> dict[Family, Array]:
        """Those of the chosen scores."""
        found: dict[Family, Array] = fitted.shortfalls(inputs)
        return found

    def _fit(self, sample: Outputs, /) -> "FittedLearned":
        """Choose the scores by cross-validation, then fit them and their weights on all rows."""
        rows = _some(sample)
        right = (~rows.errors).astype(np.float64)
        allowed = {score.name: score for score in self.candidates if score.objection(rows) is None}
        fold = _folds(rows)
        found = _held_out(allowed, rows, fold)
        whole = _fit_all({name: allowed[name] for name in found}, rows)
        found = {name: values for name, values in found.items() if name in whole}
        if not found:
            raise CannotFitError("the fitting sample determines none of the scores to learn from")
        first = next(iter(found))
        enough = FEWEST <= right.sum() <= len(right) - FEWEST
        chosen = _choose(found, right, fold) if enough else [first]
        maps = tuple(QuantileMap.of(found[name]) for name in chosen)
        places = np.column_stack([each(found[name]) for each, name in zip(maps, chosen, strict=True)])
        return FittedLearned(
            tuple(whole[name] for name in chosen),
            maps,
            _weights(places, right),
            places[right > 0].mean(axis=0) if right.any() else np.zeros(len(chosen)),
            tuple(chosen),
            tuple(allowed[name].about.family for name in chosen),
            whole[first],
            first,
        )


@final
@dataclass(frozen=True, eq=False)
class FittedLearned(FittedScore):
    """A combination with its scores, their maps, and the weights (1 + s,), the intercept first."""

    scores: tuple[FittedScore, ...]
    maps: tuple[QuantileMap, ...]
    weights: Floats
    usual: Floats
    """(s,) the mean place of rows that were right."""
    names: tuple[str, ...]
    families: tuple[Family, ...]
    fallback: FittedScore
    fallback_name: str

    @property
    def uses_head(self) -> bool:  # type: ignore[override]  # one that its parts decide
        """Whether one of the scores does."""
        return any(score.uses_head for score in self.scores)

    @property
    def is_formula(self) -> bool:  # type: ignore[override]
        """Whether all of the scores are."""
        return all(score.is_formula for score in self.scores)

    @property
    def singles(self) -> dict[str, FittedScore]:
        """What it weighs, and what it would fall back to."""
        return {self.fallback_name: self.fallback} | dict(zip(self.names, self.scores, strict=True))

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {what: size for score in self.scores for what, size in score.expects().items()}

    def formula(self, inputs: Inputs, /) -> Array:
        """Intercept plus weights times places."""
        found = sum(self._parts(inputs))
        return found + float(self.weights[0])

    def _parts(self, inputs: Inputs) -> list[Array]:
        return [
            weight * place(inputs.confidence(score))
            for score, place, weight in zip(self.scores, self.maps, self.weights[1:].tolist(), strict=True)
        ]

    def shortfalls(self, inputs: Inputs, /) -> dict[Family, Array]:
        """By family of scores, how far their part (n,) is below that of rows that were right."""
        found: dict[Family, Any] = {}
        usual = (self.weights[1:] * self.usual).tolist()
        for family, part, other in zip(self.families, self._parts(inputs), usual, strict=True):
            found[family] = found.get(family, 0.0) + (other - part)
        return found

    def note(self, _: Floats, /) -> str:
        """Which scores carry the weight."""
        parts = sorted(zip(self.weights[1:].tolist(), self.names, strict=True), key=lambda part: -abs(part[0]))
        return f"learned weighs {', '.join(f'{name} {weight:+.2f}' for weight, name in parts)}."


def _some(sample: Outputs) -> Outputs:
    """One row of each sample, at most 10,000, drawn at random."""
    order = generator("rows to learn a score on", 0, sample.ids).permutation(len(sample))
    _, first = np.unique(sample.samples[0][order], return_index=True)
    return sample.select(np.sort(order[np.sort(first)[:LARGEST]]))


def _folds(rows: Outputs) -> NDArray[np.int64]:
    """Which fold each row is in, whatever it shows: the rows are a random draw already."""
    return generator("folds to learn a score in", 0, rows.ids).permutation(len(rows)) % FOLDS


def _weights(places: Floats, right: Floats) -> Floats:
    found = fit_logistic(places, right, ridge=RIDGE)
    if len(found) == 2:
        found[1] = max(found[1], FLATTEST)
    return found


def _fit_all(scores: Mapping[str, Score], rows: Outputs) -> dict[str, FittedScore]:
    """The scores that these rows determine, fitted."""
    inside = rows.select(rows.shift == "none")
    fitted: dict[str, FittedScore] = {}
    for name, score in scores.items():
        with suppress(CannotFitError):
            fitted[name] = score.fit(inside)
    return fitted


def _held_out(scores: Mapping[str, Score], rows: Outputs, fold: NDArray[np.int64]) -> dict[str, Floats]:
    """Confidence (n,) of each row by a fit on the other folds, of the scores that every fold determines."""
    parts: list[tuple[NDArray[np.bool_], dict[str, Floats]]] = []
    left = dict(scores)
    for number in range(FOLDS):
        here = fold == number
        fitted = _fit_all(left, rows.select(~here))
        left = {name: score for name, score in left.items() if name in fitted}
        parts.append((here, confidences(rows.select(here), fitted)))
    found = {name: np.empty(len(rows)) for name in left}
    for here, values in parts:
        for name in left:
            found[name][here] = values[name]
    return {name: values for name, values in found.items() if not np.isnan(values).any() and np.ptp(values) > 0}


def _choose(found: Mapping[str, Floats], right: Floats, fold: NDArray[np.int64]) -> list[str]:
    """Forward selection by the log-loss of rows held out."""
    places = [_places(found, fold != number) for number in range(FOLDS)]

    def losses(*names: str) -> Floats:
        result = np.empty(len(right))
        for number, place in enumerate(places):
            here = fold == number
            columns = np.column_stack([place[name] for name in names])
            weights = _weights(columns[~here], right[~here])
            result[here] = log_losses(weights[0] + columns[here] @ weights[1:], right[here])
        return result

    chosen: tuple[str, ...] = (next(iter(found)),)
    now = losses(*chosen)
    chosen, now = _better(now, {(name,): losses(name) for name in found}) or (chosen, now)
    while len(chosen) < min(MOST, len(found)):
        better = _better(now, {(*chosen, name): losses(*chosen, name) for name in found if name not in chosen})
        if better is None:
            break
        chosen, now = better
    return list(chosen)


def _places(found: Mapping[str, Floats], rows: NDArray[np.bool_]) -> dict[str, Floats]:
    """Where every row stands among some of them, by score."""
    return {name: QuantileMap.of(values[rows])(values) for name, values in found.items()}


def _better(now: Floats, tried: Mapping[tuple[str, ...], Floats]) -> tuple[tuple[str, ...], Floats] | None:
    """The choice of lowest loss if that is lower than now by more than the standard error of the difference."""
    names = min(tried, key=lambda names: round(float(tried[names].mean()), 9))  # the first of those that rank alike
    gain = now - tried[names]
    return (names, tried[names]) if gain.mean() > gain.std() / np.sqrt(len(gain)) else None
