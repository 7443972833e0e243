"""`Selector`: a fitted score and the threshold above which a prediction is accepted."""

from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.outputs.expected import expect_outputs
from abstain.scores.expected_cost import FittedExpectedCost
from abstain.scores.registry import EXPECTED_COST, SCORES
from abstain.scores.score import Confidence, Score
from abstain.selector import file as selector_file
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold

ABSTAIN = -1
KNOWN: dict[str, Score] = SCORES | {EXPECTED_COST.name: EXPECTED_COST}


@final
@dataclass(frozen=True)
class Groups:
    """A threshold for each predicted class, by number, or for each domain, by name; any other group is rejected."""

    per: Literal["class", "domain"]
    thresholds: dict[str, Threshold]

    def names(self, outputs: Outputs, predictions: NDArray[np.int64], /) -> NDArray[np.str_]:
        """(n,) the group of each row."""
        if self.per == "class":
            return predictions.astype(str)
        if outputs.domain is None:
            raise ValueError("`outputs` must have domains, since the selector has a threshold for each, got none.")
        return outputs.domain

    def values(self, names: NDArray[np.str_], /) -> NDArray[np.float64]:
        """(n,) the threshold of each group named, +inf for one that calibration did not have."""
        distinct, place = np.unique(names, return_inverse=True)
        found = [self.thresholds[name].value if name in self.thresholds else np.inf for name in distinct.tolist()]
        return np.asarray(found)[place]


@final
@dataclass(frozen=True, repr=False)
class Selector:
    """A fitted score and the threshold above which a prediction is accepted."""

    score: str
    fitted: Confidence
    threshold: Threshold
    """Where there are groups, its value is +inf and its counts and promise are those of all groups together."""
    n_classes: int
    distribution: ScoreDistribution
    """That of confidence in calibration, for `abstain.monitor`."""
    groups: Groups | None = None
    class_names: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        rule = f"> {self.threshold.value:.6g}" if self.groups is None else f"for each {self.groups.per}"
        return (
            f"<Selector: {self.score} {rule}, by {self.threshold.method}; print(selector.summary()) tells its promise>"
        )

    @property
    def needs_features(self) -> bool:
        """Whether the score looks at the input of the last layer."""
        return "features" in self._needs

    @property
    def needs_head(self) -> bool:
        """Whether the last layer must be known, for itself or for its input."""
        return self.needs_features or "head" in self._needs

    @property
    def _needs(self) -> tuple[str, ...]:
        return KNOWN[self.score].needs if self.score in KNOWN else ()

    @property
    def class_values(self) -> float | NDArray[np.float64]:
        """The threshold, or one for each predicted class (K,): what an exported model compares with."""
        if self.groups is None:
            return self.threshold.value
        if self.groups.per != "class":
            raise ValueError("`selector` must have thresholds that a model knows, got one for each domain.")
        return self.groups.values(np.arange(self.n_classes).astype(str))

    def confidence(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Confidence (n,), NaN where a row is not usable."""
        expect_outputs(outputs)
        if outputs.n_classes != self.n_classes:
            raise ValueError(
                f"`outputs` must have {self.n_classes} classes, as in calibration, got {outputs.n_classes}."
            )
        return np.asarray(self.fitted(outputs), dtype=np.float64)

    def accepts(self, outputs: Outputs, /) -> NDArray[np.bool_]:
        """Which rows are accepted (n,)."""
        return self._accepted(outputs, self.confidence(outputs))

    def _accepted(self, outputs: Outputs, confidence: NDArray[np.float64]) -> NDArray[np.bool_]:
        if self.groups is None:
            return self.threshold.accepts(confidence)
        predictions = self.predictions(outputs) if self.groups.per == "class" else np.empty(0, dtype=np.int64)
        return confidence > self.groups.values(self.groups.names(outputs, predictions))

    def predict(self, outputs: Outputs, /) -> NDArray[np.int64]:
        """The predictions (n,), −1 where the selector abstains."""
        return np.where(self.accepts(outputs), self.predictions(outputs), ABSTAIN)

    def predictions(self, outputs: Outputs, /) -> NDArray[np.int64]:
        """The answer to every row (n,): the classifier's own, or the cheapest where the selector knows the costs."""
        if isinstance(self.fitted, FittedExpectedCost):
            return self.fitted.predictions(outputs)
        return outputs.predictions

    def decide(self, outputs: Outputs, /) -> dict[str, NDArray[Any]]:
        """Columns with a value for each row: id, prediction, confidence, accepted, and error where it is known."""
        confidence = self.confidence(outputs)
        columns: dict[str, NDArray[Any]] = {"id": np.arange(len(outputs)) if outputs.ids is None else outputs.ids}
        if outputs.domain is not None:
            columns["domain"] = outputs.domain
        if outputs.n_classes:
            columns["prediction"] = self.predictions(outputs)
        columns |= {"confidence": confidence, "accepted": self._accepted(outputs, confidence)}
        if outputs.wrong is not None or outputs.labels is not None:
            wrong = outputs.errors if outputs.labels is None else columns["prediction"] != outputs.labels
            columns["error"] = wrong | ~outputs.usable
        return columns

    def unseen(self, outputs: Outputs, /) -> dict[str, int]:
        """How many rows are of groups that have no threshold because calibration did not have them, by name."""
        if self.groups is None or self.groups.per == "class":
            return {}
        names, counts = np.unique(self.groups.names(outputs, np.empty(0, dtype=np.int64)), return_counts=True)
        known = self.groups.thresholds
        return {str(name): int(n) for name, n in zip(names, counts, strict=True) if str(name) not in known}

    def summary(self) -> str:
        """What it does and what it promises, in plain words."""
        t = self.threshold
        wrong = "" if t.errors is None else f", {t.errors:.4g} of them wrong"
        share = f"seen, not promised: {t.accepted} of {t.n} calibration rows ({t.accepted / t.n:.1%}) accepted{wrong}"
        if self.groups is not None:
            certain = sum(part.value < np.inf for part in self.groups.thresholds.values())
            rule = (
                f"Accept iff {self.score} is above the threshold of its {self.groups.per}; {certain} of "
                f"{len(self.groups.thresholds)} have one, the others are always rejected"
            )
        else:
            rule = f"Accept iff {self.score} > {t.value:.6g}{self._units(t.value)}"
        return f"{rule}. Promise by {t.method}: {t.words} {share.capitalize()}."

    def _units(self, value: float) -> str:
        """The threshold as the literature would print it."""
        if self.score not in KNOWN:
            return ""
        entry = KNOWN[self.score]
        literal = float(np.asarray(entry.literal(np.array([value])))[0])
        return "" if literal == value else f" ({entry.symbol} > {literal:.6g})"

    def save(self, file: str | PathLike[str], /) -> None:
        """Write one file, whole or not at all."""
        selector_file.save(self, file)

    @classmethod
    def load(cls, file: str | PathLike[str], /) -> Self:
        """Read a file written by `save`; a truncated, altered, newer or foreign one is an error that says so."""
        return cls(**selector_file.load(file, Groups, KNOWN))
