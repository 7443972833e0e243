"""Why rows are rejected, in words, by the families of scores whose confidence is too low."""

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain.outputs import Outputs
from abstain.scores.confidences import usable_blocks
from abstain.scores.score import Family, FittedScore, Score

BOTH = 1 / 3  # the share of the shortfall from which a part is named
UNLIKE = "unlike the calibration samples"
PARTS: dict[Family, tuple[float, float]] = {
    "softmax": (1.0, 0.0),
    "logit": (1.0, 0.0),
    "margin": (1.0, 0.0),
    "feature": (0.0, 1.0),
    "hybrid": (0.5, 0.5),
}
"""How much of the shortfall of a family is doubt between classes, and how much distance from calibration samples."""


def reasons(
    entry: Score,
    fitted: FittedScore,
    outputs: Outputs,
    confidence: Floats,
    values: Floats,
    class_names: tuple[str, ...] | None,
    /,
) -> NDArray[np.str_]:
    """Why each row (n,) whose confidence is not above its threshold is not accepted; none is above +inf."""
    accepted, certified = confidence > values, values < np.inf
    reason = np.full(len(outputs), "", dtype=object)
    reason[~accepted & ~certified] = "no threshold is certified for it"
    left = np.flatnonzero(~accepted & certified & outputs.usable)
    if len(left):
        lack = values[left] - confidence[left]
        reason[left] = _of_score(entry, fitted, outputs.select(left), lack, class_names)
    reason[~accepted & ~outputs.usable] = "not finite"
    return reason.astype(np.str_)


def _of_score(
    entry: Score, fitted: FittedScore, rows: Outputs, lack: Floats, class_names: tuple[str, ...] | None
) -> NDArray[np.object_]:
    """The part that alone keeps the row from being accepted; where either or neither does, by their shares."""
    doubt, distance = _parts(entry, fitted, rows)
    if not (doubt.any() or distance.any()):
        return np.full(len(rows), f"low {entry.name}", dtype=object)
    between = _between(rows, class_names)
    both = "both: " + between + f", and {UNLIKE}"
    share = doubt / (doubt + distance)
    share = np.where(
        (doubt > lack) & (distance <= lack), 1.0, np.where((distance > lack) & (doubt <= lack), 0.0, share)
    )
    return np.where(share > 1 - BOTH, between, np.where(share < BOTH, UNLIKE, both))


def _parts(entry: Score, fitted: FittedScore, rows: Outputs) -> tuple[Floats, Floats]:
    """The shortfall (n,) from doubt between classes, and from distance; both 0 where its parts are not known."""
    families: dict[Family, Floats] = {}
    for some, inputs in usable_blocks(rows, with_head=fitted.uses_head):
        for family, values in (fitted.shortfalls(inputs) or {entry.about.family: 1.0}).items():
            families.setdefault(family, np.zeros(len(rows)))[some] = values
    seen = {family: values for family, values in families.items() if family in PARTS}
    if not set(seen) - {"hybrid"}:  # a score whose parts are not known
        return np.zeros(len(rows)), np.zeros(len(rows))
    table = np.column_stack(list(seen.values()))
    largest = table == table.max(axis=1, keepdims=True)
    table = np.where(
        (table > 0).any(axis=1, keepdims=True), np.maximum(table, 0), largest
    )  # where none is missing, the largest
    doubt, distance = (table @ np.array([PARTS[family] for family in seen])).T
    return doubt, distance


def _between(rows: Outputs, class_names: tuple[str, ...] | None) -> NDArray[np.object_]:
    """The two classes (n,) of the largest logits, in words."""
    first = rows.predictions
    logits = np.array(rows.logits, dtype=np.float64)
    logits[np.arange(len(rows)), first] = -np.inf
    names = np.array(class_names if class_names else [str(k) for k in range(rows.n_classes)], dtype=object)
    return "ambiguous between " + names[first] + " and " + names[logits.argmax(axis=1)]
