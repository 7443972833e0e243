"""`evaluate`: which score to trust on these outputs, under which mix of shifts."""

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.extras import require
from abstain.metrics import RiskCoverage, risk_coverage
from abstain.metrics.compare import paired
from abstain.metrics.intervals import Estimate, estimates
from abstain.metrics.ranking import Rows
from abstain.outputs import Outputs
from abstain.scores import SCORES, CannotFitError, Score, confidences
from abstain.scores.calibration_draw import draw_calibration
from abstain.scores.score import Confidence

MIXES: Mapping[str, tuple[str, ...]] = {
    "in": ("none",),
    "in+cov": ("none", "covariate"),
    "in+label": ("none", "label"),
    "all": ("none", "covariate", "label"),
}
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Evaluation:
    """A tidy table of AURC-α, a row for each score, mix of shifts and α; all scores see the same samples."""

    rows: list[dict[str, Any]]
    """Keys: score, mix, alpha, aurc, se, low, high, n, errors, best, tied (not significantly worse than the best)."""
    left_out: dict[str, str]
    """Scores that could not be computed, and why."""
    notes: tuple[str, ...]
    level: float
    confidence: dict[str, NDArray[np.float64]]
    """(n,) by score; NaN where a row is not usable."""
    errors: NDArray[np.bool_]
    shift: NDArray[np.str_]

    @property
    def n(self) -> int:
        """The number of samples evaluated."""
        return len(self.errors)

    @property
    def scores(self) -> list[str]:
        """The names of the scores compared."""
        return list(self.confidence)

    @property
    def mixes(self) -> list[str]:
        """The mixes evaluated."""
        return list(dict.fromkeys(row["mix"] for row in self.rows))

    @property
    def alphas(self) -> list[float]:
        """The coverages α evaluated."""
        return list(dict.fromkeys(row["alpha"] for row in self.rows))

    def row(self, score: str, mix: str, alpha: float) -> dict[str, Any]:
        """One row of the table."""
        for row in self.rows:
            if (row["score"], row["mix"], row["alpha"]) == (score, mix, alpha):
                return row
        raise KeyError(f"no row for score {score!r}, mix {mix!r} and alpha {alpha}")

    def best(self, mix: str, alpha: float = 1.0) -> dict[str, Any]:
        """The row of the lowest AURC-α in a mix."""
        for row in self.rows:
            if row["mix"] == mix and row["alpha"] == alpha and row["best"]:
                return row
        raise KeyError(f"no rows for mix {mix!r} and alpha {alpha}")

    def curve(self, score: str, mix: str) -> RiskCoverage:
        """The risk–coverage curve of a score on a mix."""
        chosen = np.isin(self.shift, MIXES[mix])
        return risk_coverage(_rejected_last(self.confidence[score][chosen]), self.errors[chosen])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `abstain evaluate --json` prints it."""
        return {
            "n": self.n,
            "rows": self.rows,
            "left_out": self.left_out,
            "notes": list(self.notes),
            "level": self.level,
        }

    def to_polars(self) -> Any:
        """The rows as a Polars frame."""
        return require("polars", extra="scale", feature="Evaluation.to_polars").DataFrame(self.rows)

    def to_pandas(self) -> Any:
        """The rows as a pandas frame."""
        return require("pandas", extra=None, feature="Evaluation.to_pandas").DataFrame(self.rows)


def evaluate(
    outputs: Outputs,
    /,
    *,
    scores: str | Iterable[str] = "all",
    alphas: Sequence[float] = (0.1, 0.5, 1.0),
    calibration: Outputs | None = None,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Compare scores on labelled outputs: AURC-α with standard errors and intervals, in each mix of shifts.

    In every column the best score is marked, and those that a paired interval cannot call worse. Scores that lack
    an input are left out with the reason. Scores that need fitting get ``calibration``, or else a seeded draw of
    in-distribution rows, five a class but at most half of them, which are then removed for all scores alike.
    ``progress`` is called with what is being done and the share that is done.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=500)
    >>> logits = rng.normal(size=(500, 3)) + 2 * np.eye(3)[labels]
    >>> evaluation = evaluate(Outputs(logits=logits, labels=labels))
    >>> best = evaluation.best("in", alpha=1.0)
    >>> best["score"], round(best["aurc"], 3)
    ('max_softmax', 0.021)
    """
    if outputs.labels is None:
        raise ValueError("`outputs` must have labels to be evaluated, got none. Pass labels= to Outputs.")
    if not len(alphas):
        raise ValueError("`alphas` must name at least one coverage, got none.")
    say = progress or (lambda _what, _share: None)
    notes = _notes_on(outputs)
    chosen, left_out = _choose(scores, outputs, calibration)
    if calibration is None and any(score.is_fitted for score in chosen):
        before = len(outputs)
        calibration, outputs = draw_calibration(outputs, seed=seed)
        removed = before - len(outputs)
        copies = f", with {removed - len(calibration)} copies of them," if removed > len(calibration) else ""
        notes.append(
            f"{len(calibration)} in-distribution rows were used for fitting and{copies} left out of the evaluation."
        )
    elif calibration is not None and (shared := _shared_ids(calibration, outputs)):
        notes.append(
            f"Careful: {shared} ids are in the calibration sample and in the evaluation; are they the same samples?"
        )
    fitted: dict[str, Confidence] = {}
    for done, score in enumerate(chosen):
        say(f"Fitting {score.name}", 0.2 * done / len(chosen))
        try:
            fitted[score.name] = score.fit(calibration)  # type: ignore[arg-type]
        except CannotFitError as error:
            left_out[score.name] = str(error)
    _some_left(fitted, left_out)
    if getattr(fitted.get("max_logit_pnorm"), "p", 0.0) < 0:
        notes.append("No p-norm beat max_softmax on the calibration sample, so max_logit_pnorm is max_softmax here.")
    say("Scoring", 0.2)
    confidence = confidences(outputs, fitted)
    if "geometric_margin" in confidence:
        differ = np.nanmean(confidence["geometric_margin"] < 0)
        notes.append(
            f"The largest distance belongs to another class than the largest logit in {differ:.2%} of the rows."
        )
    mixes, dropped = _mixes_of(outputs)
    notes += dropped
    rows: list[dict[str, Any]] = []
    for done, mix in enumerate(mixes):
        say(f"Comparing scores on {mix}", 0.4 + 0.6 * done / len(mixes))
        rows += _rows_of_mix(mix, outputs, confidence, alphas, level)
    say("Done", 1.0)
    return Evaluation(rows, left_out, tuple(notes), level, confidence, outputs.errors, outputs.shift)


def _rows_of_mix(
    mix: str,
    outputs: Outputs,
    confidence: dict[str, NDArray[np.float64]],
    alphas: Sequence[float],
    level: float,
) -> list[dict[str, Any]]:
    chosen = np.isin(outputs.shift, MIXES[mix])
    rows = Rows.of(outputs.errors[chosen], ids=None if outputs.ids is None else outputs.ids[chosen])
    found = {
        name: estimates(rows.rank(_rejected_last(values[chosen])), alphas=alphas, level=level)
        for name, values in confidence.items()
    }
    table = []
    for k, alpha in enumerate(alphas):
        best = min((ones[k] for ones in found.values()), key=lambda one: one.value)
        for name, ones in found.items():
            is_best = ones[k].value == best.value
            worse = not is_best and paired(ones[k], best, level=level).low > 0
            table.append(_row(name, mix, alpha, ones[k], rows.losses) | {"best": is_best, "tied": not worse})
    return table


def _row(name: str, mix: str, alpha: float, found: Estimate, losses: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "score": name,
        "mix": mix,
        "alpha": float(alpha),
        "aurc": found.value,
        "se": found.se,
        "low": found.low,
        "high": found.high,
        "n": len(losses),
        "errors": int(losses.sum()),
    }


def _rejected_last(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(confidence), -np.inf, confidence)


def _choose(
    scores: str | Iterable[str], outputs: Outputs, calibration: Outputs | None
) -> tuple[list[Score], dict[str, str]]:
    """The scores that can be had, and the reason for each of the others."""
    names = [scores] if isinstance(scores, str) else list(scores)
    if names == ["all"]:
        names = list(SCORES)
    for name in names:
        if name not in SCORES:
            near = difflib.get_close_matches(name, SCORES, n=1)
            hint = f" Did you mean {near[0]}?" if near else " `abstain scores` lists them."
            raise ValueError(f"`scores` must name known scores, got {name!r}.{hint}")
    if not names:
        raise ValueError("`scores` must name at least one score, got none. `abstain scores` lists them.")
    left_out = {}
    inside = (outputs.shift == "none") & outputs.usable
    samples = np.count_nonzero(inside) if outputs.ids is None else len(np.unique(outputs.ids[inside]))
    enough = calibration is not None or samples >= 4
    for name in dict.fromkeys(names):
        score = SCORES[name]
        if objection := score.objection(outputs):
            left_out[name] = f"the outputs have {objection}"
        elif score.is_fitted and calibration is not None and (objection := score.objection(calibration)):
            left_out[name] = f"the calibration outputs have {objection}"
        elif score.is_fitted and not enough:
            left_out[name] = "there are too few in-distribution samples to fit it on; give calibration outputs"
    chosen = [SCORES[name] for name in dict.fromkeys(names) if name not in left_out]
    _some_left(chosen, left_out)
    return chosen, left_out


def _some_left(scores: Collection[Any], left_out: dict[str, str]) -> None:
    if not scores:
        name, reason = next(iter(left_out.items()))
        raise ValueError(
            f"`scores` must name a score that can be computed, got only {', '.join(left_out)}; {name}: {reason}."
        )


def _shared_ids(calibration: Outputs, outputs: Outputs) -> int:
    if calibration.ids is None or outputs.ids is None or calibration.ids.dtype.kind != outputs.ids.dtype.kind:
        return 0
    return len(np.intersect1d(calibration.ids, outputs.ids))


def _mixes_of(outputs: Outputs) -> tuple[list[str], list[str]]:
    """The mixes whose every kind of shift is there (`all` is every row), and what was dropped."""
    present = set(np.unique(outputs.shift))
    wanted = [mix for mix, kinds in MIXES.items() if mix == "all" or set(kinds) <= present]
    kept, dropped = [], []
    for mix in wanted:
        chosen = np.isin(outputs.shift, MIXES[mix])
        samples = np.count_nonzero(chosen) if outputs.ids is None else len(np.unique(outputs.ids[chosen]))
        if samples >= 2:
            kept.append(mix)
        else:
            dropped.append(f"Mix {mix} is left out: it has {samples} sample, and a standard error needs 2.")
    if not kept:
        raise ValueError(
            f"`outputs` must have at least 2 different samples to be evaluated, got {len(outputs)} row(s)."
        )
    return kept, dropped


def _notes_on(outputs: Outputs) -> list[str]:
    notes = []
    if not outputs.usable.any():
        raise ValueError(f"`outputs` must have usable rows, got {len(outputs)} that are not finite.")
    if not outputs.usable.all():
        notes.append(f"{np.count_nonzero(~outputs.usable)} rows are not finite: they count as rejected errors.")
    if outputs.ids is not None and (distinct := len(np.unique(outputs.ids))) < len(outputs):
        notes.append(
            f"The {len(outputs)} rows show {distinct} distinct samples; standard errors count each sample once."
        )
    if outputs.features is not None and outputs.weight is not None and not (head := outputs.check_head()).agrees:
        notes.append(f"Careful: {head}. Scores that use the head or the features may mislead.")
    return notes
