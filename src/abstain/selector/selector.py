"""`Selector`: a fitted score and the threshold above which a prediction is accepted."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape
from os import PathLike
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._io.fingerprint import digest
from abstain._io.sealed import seal
from abstain.outputs import Outputs
from abstain.outputs.outcomes import not_right_or_wrong
from abstain.outputs.outputs import expect_outputs
from abstain.scores.confidences import outcomes, predictions
from abstain.scores.score import FittedScore, Score
from abstain.selector.band import NOWHERE, band
from abstain.selector.calibration_data import CalibrationData, class_names_of
from abstain.selector.class_sets import ClassSets, log_probabilities
from abstain.selector.file import SELECTOR_FILE
from abstain.selector.group_thresholds import GroupThresholds, column_of
from abstain.selector.reasons import reasons
from abstain.selector.seen_rows import SeenRows
from abstain.thresholds.guarantee import Quantity
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold

ABSTAIN = -1
"""What `Selector.answers` gives where it does not answer."""


@final
@dataclass(frozen=True, repr=False)
class Selector:
    """A fitted score and the threshold above which a prediction is accepted.

    `calibrate` makes it; `accepts` and `answers` decide, ``summary()`` states the guarantee, and `save` and `load`
    keep it in one file that holds arrays and a header, nothing executable.

    Attributes
    ----------
    entry : Score
        The score with its options.
    fitted : FittedScore
        The score with its constants.
    threshold : Threshold
        Above which a confidence is accepted, with its guarantee. Where there are groups, its value is +inf and its
        counts and guarantee are those of all groups together.
    n_classes : int
        The number of classes.
    distribution : ScoreDistribution
        That of confidence in calibration, for `abstain.monitor`.
    groups : GroupThresholds or None
        The threshold of each group, where each has its own.
    class_names : tuple of str or None
        The names of the classes, where they have some.
    calibration : CalibrationData or None
        The rows it was calibrated on; None where that is not known.
    seen : SeenRows or None
        Hashes of these rows and of those that chose or fitted the score; None where they are not known.
    class_sets : ClassSets or None
        Sets of classes for rejected rows; `abstain.selector.calibrate_sets` makes them.
    """

    entry: Score
    fitted: FittedScore
    threshold: Threshold
    n_classes: int
    distribution: ScoreDistribution
    groups: GroupThresholds | None = None
    class_names: tuple[str, ...] | None = None
    calibration: CalibrationData | None = None
    seen: SeenRows | None = None
    class_sets: ClassSets | None = None

    def __repr__(self) -> str:
        rule = f"> {self.threshold.value:.6g}" if self.groups is None else f"for each {self.groups.per}"
        by = self.threshold.method
        return f"<Selector: {self.score} {rule}, by {by}; print(selector.summary()) shows its guarantee>"

    def _repr_html_(self) -> str:
        return f"<b>Selector</b><br>{escape(self._statement(''))}"

    @property
    def score(self) -> str:
        """The name of the score."""
        return self.entry.name

    @property
    def needs_features(self) -> bool:
        """Whether the score looks at the input of the last layer."""
        return "features" in self.entry.needs_of(self.fitted)

    @property
    def needs_head(self) -> bool:
        """Whether the last layer must be known, for itself or for its input."""
        return self.needs_features or "head" in self.entry.needs_of(self.fitted)

    @property
    def class_values(self) -> float | NDArray[np.float64]:
        """The threshold, or one for each predicted class (K,): what an exported model compares with."""
        return (
            self.threshold.value if self.groups is None else self.groups.for_classes(self.n_classes, self.class_names)
        )

    def confidence(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Confidence (n,), NaN where a row is non-finite."""
        expect_outputs(outputs)
        if outputs.n_classes != self.n_classes:
            wanted, got = (_kind(n) for n in (self.n_classes, outputs.n_classes))
            raise InvalidInputError(f"`outputs` must have {wanted}, as in calibration, got {got}.")
        mine, others = self.class_names or (), outputs.class_names or ()
        indices = {name: index for index, name in enumerate(mine)}
        moved = next((index for index, name in enumerate(others) if indices.get(name, index) != index), None)
        if moved is not None:
            raise InvalidInputError(
                f"`outputs` must have the classes in the order of calibration, {mine[moved]!r} as number {moved}, got "
                f"{others[moved]!r}. Put the columns in that order."
            )
        return self.fitted(outputs)

    def accepts(self, outputs: Outputs, /) -> NDArray[np.bool_]:
        """Which rows are accepted (n,)."""
        return self.accepted(outputs, self.confidence(outputs))

    def accepted(self, outputs: Outputs, confidence: NDArray[np.float64], /) -> NDArray[np.bool_]:
        """Which rows (n,) are accepted, where their confidence is known."""
        return confidence > self.values(outputs)

    def values(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """The threshold (n,) of each row."""
        if self.groups is None:
            return np.full(len(outputs), self.threshold.value)
        return self.groups.values(self.group_names(outputs))

    def group_names(self, outputs: Outputs, /) -> NDArray[np.str_]:
        """(n,) the group of each row, where each group has a threshold."""
        if self.groups is None:
            raise InvalidInputError("`selector` must have a threshold for each group, got one for all rows.")
        return self.groups.names(outputs, self.fitted, self.class_names)

    @property
    def group_column(self) -> str | None:
        """The column of a table that names the groups, where it is neither ``group`` nor ``domain``."""
        return column_of(None if self.groups is None else self.groups.per)

    @property
    def certified_column(self) -> str | None:
        """The same for the groups that have a guarantee, also where all rows have one threshold."""
        return self.group_column or next(filter(None, (column_of(each.per) for each in self.threshold.further)), None)

    def with_groups_called(self, per: str, /) -> Self:
        """The same selector, whose groups of rows are those of the column ``per``."""
        groups = self.groups if self.groups is None or self.groups.is_by_class else replace(self.groups, per=per)
        further = (each if each.per in (None, "class") else replace(each, per=per) for each in self.threshold.further)
        return replace(self, groups=groups, threshold=replace(self.threshold, further=tuple(further)))

    def reasons(self, outputs: Outputs, /) -> NDArray[np.str_]:
        """Why each row (n,) is rejected, in words; nothing where it is accepted."""
        return self._reasons(outputs, self.confidence(outputs))

    def _reasons(self, outputs: Outputs, confidence: NDArray[np.float64]) -> NDArray[np.str_]:
        return reasons(self.entry, self.fitted, outputs, confidence, self.values(outputs), self._names(outputs))

    def answers(self, outputs: Outputs, /) -> NDArray[np.int64]:
        """The prediction (n,) where it is accepted, a class number from 0 on; −1 where the selector abstains."""
        return np.where(self.accepts(outputs), self.predictions(outputs), ABSTAIN)

    def predictions(self, outputs: Outputs, /) -> NDArray[np.int64]:
        """The prediction for every row (n,), accepted or not: the classifier's own, or the cheapest by known costs."""
        return predictions(outputs, self.fitted)

    def sets(self, outputs: Outputs, /) -> NDArray[np.bool_]:
        """(n, K) for a rejected row the classes of its set, for an accepted one its answer alone.

        The set of a rejected row holds the truth with the probability that ``class_sets.threshold.guarantee`` states.
        """
        if self.class_sets is None:
            raise InvalidInputError("`selector` must have sets, got none. Make them with `calibrate_sets`.")
        answers = self.answers(outputs)
        return np.where(
            answers[:, None] < 0, self.class_sets.of(outputs), answers[:, None] == np.arange(self.n_classes)
        )

    def _candidates(self, outputs: Outputs, accepted: NDArray[np.bool_]) -> NDArray[np.str_]:
        """(n,) the classes in the set of each rejected row, the most probable first; nothing for an accepted one."""
        names = class_names_of(np.arange(self.n_classes), self._names(outputs))
        rejected = np.flatnonzero(~accepted)
        rows = outputs.select(rejected)
        sets, order = self.sets(rows), np.argsort(-log_probabilities(rows), axis=1, kind="stable")
        candidates = np.full(len(outputs), "", dtype=object)
        candidates[rejected] = [
            "|".join(names[k] for k in row if of_row[k]) for row, of_row in zip(order, sets, strict=True)
        ]
        return candidates.astype(np.str_)

    def decide(self, outputs: Outputs, /) -> dict[str, NDArray[Any]]:
        """Columns with a value for each row: id, group, prediction, confidence, accepted, reason, and error if known.

        With sets of classes also ``candidates``, those of rejected rows, the most probable first, joined by "|".

        They are what `abstain select` writes. A prediction is the name of its class where classes have names, and "-1"
        where a row is non-finite; else a number. Rows without ids are named after the outputs and their number, so that
        a monitor takes no row for one of other outputs.
        """
        confidence = self.confidence(outputs)
        columns: dict[str, NDArray[Any]] = {"id": _row_names(outputs) if outputs.ids is None else outputs.ids}
        if outputs.domain is not None:
            columns["group"] = outputs.domain
        if outputs.n_classes:
            predictions, names = self.predictions(outputs), self._names(outputs)
            columns["prediction"] = class_names_of(predictions, names) if names else predictions
        accepted = self.accepted(outputs, confidence)
        columns |= {"confidence": confidence, "accepted": accepted, "reason": self._reasons(outputs, confidence)}
        if self.class_sets is not None:
            columns["candidates"] = self._candidates(outputs, accepted)
        if outputs.is_labelled:
            columns["loss" if outputs.is_graded else "error"] = self.outcomes(outputs)
        return columns

    def _names(self, outputs: Outputs) -> tuple[str, ...] | None:
        """Of the classes, as these outputs or else those of calibration name them."""
        return outputs.class_names or self.class_names

    def errors(self, outputs: Outputs, /) -> NDArray[np.bool_]:
        """Where its prediction (n,) is wrong, accepted or not; always where a row is non-finite."""
        if outputs.is_graded:
            raise not_right_or_wrong()
        return np.asarray(self.outcomes(outputs), dtype=np.bool_)

    def outcomes(self, outputs: Outputs, /) -> NDArray[Any]:
        """(n,) where its prediction is wrong, or the losses of graded answers, accepted or not.

        A non-finite row is wrong, with a loss of 1.
        """
        return outcomes(outputs, self.fitted)

    def limited_classes(self, outputs: Outputs, /) -> dict[str, NDArray[np.bool_]]:
        """By name the rows (n,) of each true class whose miss rate is guaranteed; none where classes are unknown."""
        names = [
            name for each in self.threshold.guarantees if each.quantity is Quantity.MISS_RATE for name in each.groups
        ]
        if outputs.labels is None or not outputs.n_classes:
            return {}
        labels, known = class_names_of(np.maximum(outputs.labels, -1), self.class_names), outputs.labels >= 0
        return {name: known & (labels == name) for name in names}

    def unseen(self, outputs: Outputs, /) -> dict[str, int]:
        """How many rows are of groups that have no threshold because calibration did not have them, by name."""
        return {} if self.groups is None else self.groups.unseen(outputs)

    def summary(self) -> str:
        """What it does and what it guarantees, in plain words."""
        edges = band(self)
        return self._statement(
            "" if edges is None or edges == NOWHERE else f" That is: {edges.words(self.class_names)}."
        )

    def _statement(self, bands: str) -> str:
        """The rule, the bands that it means, and what is guaranteed; nothing is computed."""
        t = self.threshold
        guarantee = f"Guarantee by {t.method}: {t.words} Observed (not guaranteed): {t.observed}."
        rows = "" if self.calibration is None else self.calibration.words(t.n)
        sets = "" if self.class_sets is None else f" {self.class_sets.words()}"
        return f"{self._rule()}.{bands} {guarantee}{rows}{sets}"

    def _rule(self) -> str:
        """When a row is accepted."""
        t = self.threshold
        if self.groups is not None:
            return f"Accept iff {self.score} is above {self.groups.words()}"
        if t.value == -np.inf:
            return "Accept every finite row: nothing needs to be rejected, since the target holds for all rows together"
        if t.value == np.inf:
            return "Accept no row"
        literal = self.entry.literal_value(t.value)
        printed = "" if literal == t.value else f" (literal value: {self.entry.symbol} > {literal:.6g})"
        return f"Accept iff {self.score} > {t.value:.6g}{printed}"

    @property
    def digest(self) -> str:
        """SHA-256 of the selector, also stored in its file."""
        return seal(SELECTOR_FILE.dumped(self))

    def save(self, file: str | PathLike[str], /) -> None:
        """Write one file, whole or not at all."""
        SELECTOR_FILE.save(self, file)

    @classmethod
    def load(cls, file: str | PathLike[str], /, *, scores: Iterable[Any] = ()) -> Self:
        """Read a file written by `save`; a truncated, altered, newer or foreign file is refused with the reason.

        A function of yours that was calibrated as the score is in no file: pass it in ``scores``. A class of yours must
        have been imported.
        """
        return SELECTOR_FILE.load(cls, file, own=scores)


def _kind(n_classes: int) -> str:
    return f"{n_classes} classes" if n_classes else "confidences alone"


def _row_names(outputs: Outputs) -> NDArray[np.str_]:
    prefix = digest(outputs.logits, outputs.confidences)[:12]
    return np.array([f"{prefix}-{row}" for row in range(len(outputs))])
