"""`calibrate` and `Selector`: a score, a threshold and its promise, in one file that holds nothing executable."""

import hashlib
import json
import os
import struct
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as dump_arrays

from abstain.outputs import Outputs
from abstain.scores import SCORES, from_state, to_state
from abstain.scores.calibration_draw import split_to_fit
from abstain.scores.expected_cost import Costs, ExpectedCost, FittedExpectedCost
from abstain.scores.registry import EXPECTED_COST
from abstain.scores.score import Confidence, Score
from abstain.thresholds import (
    Threshold,
    bonferroni,
    fixed_sequence,
    minimal_cost,
    sgr,
    target_coverage,
)
from abstain.thresholds.calibration import one_of_each
from abstain.thresholds.score_law import ScoreLaw

FORMAT, VERSION = "abstain.selector", 2
ABSTAIN = -1
BLANK = "0" * 64
LARGEST_HEADER = 10_000_000
LABELLED_SHARE = 0.2
KNOWN: dict[str, Score] = SCORES | {EXPECTED_COST.name: EXPECTED_COST}
COST_METHODS = ("minimal_cost", "chow")
RISK_METHODS = {"fixed_sequence": fixed_sequence, "sgr": sgr, "bonferroni": bonferroni}


@dataclass(frozen=True)
class Selector:
    """A fitted score and the threshold above which a prediction is accepted."""

    score: str
    fitted: Confidence
    threshold: Threshold
    n_classes: int
    law: ScoreLaw
    """The law of confidence in calibration, for `abstain.monitor`."""
    class_names: tuple[str, ...] | None = None

    @property
    def needs_features(self) -> bool:
        """Whether the score looks at the input of the last layer."""
        return "features" in KNOWN[self.score].needs

    @property
    def needs_head(self) -> bool:
        """Whether the last layer must be known, for itself or for its input."""
        return self.needs_features or "head" in KNOWN[self.score].needs

    def confidence(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Confidence (n,), NaN where a row is not usable."""
        if outputs.n_classes != self.n_classes:
            raise ValueError(
                f"`outputs` must have {self.n_classes} classes, as in calibration, got {outputs.n_classes}."
            )
        return np.asarray(self.fitted(outputs), dtype=np.float64)

    def accepts(self, outputs: Outputs, /) -> NDArray[np.bool_]:
        """Which rows are accepted (n,)."""
        return self.threshold.accepts(self.confidence(outputs))

    def predict(self, outputs: Outputs, /) -> NDArray[np.int64]:
        """The predictions (n,), −1 where the selector abstains."""
        return np.where(self.accepts(outputs), self.predictions(outputs), ABSTAIN)

    def predictions(self, outputs: Outputs, /) -> NDArray[np.int64]:
        """The answer to every row (n,): the classifier's own, or the cheapest where the selector knows the costs."""
        if isinstance(self.fitted, FittedExpectedCost):
            return self.fitted.predictions(outputs)
        return outputs.predictions

    def summary(self) -> str:
        """What it does and what it promises, in plain words."""
        t = self.threshold
        entry = KNOWN[self.score]
        literal = float(np.asarray(entry.literal(np.array([t.value])))[0])
        units = "" if literal == t.value else f" ({entry.symbol} > {literal:.6g})"
        share = f"{t.accepted / t.n:.1%} of the {t.n} calibration samples were accepted"
        return f"Accept iff {self.score} > {t.value:.6g}{units}. Promise by {t.method}: {t.guarantee} There, {share}."

    def save(self, file: str | PathLike[str], /) -> None:
        """Write one file, whole or not at all."""
        goal = Path(file)
        header, arrays = to_state(self.fitted)
        header = {"sha256": BLANK, "format": FORMAT} | header  # first, so that no name can look like the blank
        header |= {
            "version": VERSION,
            "score": self.score,
            "threshold": asdict(self.threshold),
            "n_classes": self.n_classes,
            "law": asdict(self.law),
            "class_names": self.class_names,
        }
        stored = {name: np.ascontiguousarray(array) for name, array in arrays.items()} or {"none": np.zeros(0)}
        contents = dump_arrays(stored, metadata={"abstain": json.dumps(header)})
        digest = hashlib.sha256(contents).hexdigest()
        contents = contents.replace(BLANK.encode(), digest.encode(), 1)
        partial = goal.with_name(f".{goal.name}.{os.getpid()}.{token_hex(4)}")
        try:
            with open(partial, "xb") as stream:
                stream.write(contents)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(partial, goal)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, file: str | PathLike[str], /) -> Self:
        """Read a file written by `save`; a truncated, altered, newer or foreign one is an error that says so."""
        contents = Path(file).read_bytes()
        header = _header(contents, str(file))
        if header.get("format") != FORMAT:
            raise ValueError(f"`{file}` must be a selector, got another kind of file.")
        if header.get("version") != VERSION:
            raise ValueError(
                f"`{file}` must be of version {VERSION}, got {header.get('version')}. Use the abstain that wrote it, "
                "or calibrate again."
            )
        digest = str(header.get("sha256"))
        if len(digest) != 64 or contents.count(digest.encode()) != 1:
            raise ValueError(f"`{file}` must be whole and unaltered, got no valid digest.")
        blank = contents.replace(digest.encode(), BLANK.encode(), 1)
        if hashlib.sha256(blank).hexdigest() != digest:
            raise ValueError(f"`{file}` must be whole and unaltered, got other contents than were saved.")
        try:
            arrays = load_arrays(contents)
            names = header["class_names"]
            return cls(
                score=KNOWN[header["score"]].name,
                fitted=from_state({"fitted": header["fitted"]}, arrays),
                threshold=Threshold(**header["threshold"]),
                n_classes=int(header["n_classes"]),
                law=ScoreLaw(**{name: tuple(values) for name, values in header["law"].items()}),
                class_names=None if names is None else tuple(names),
            )
        except (SafetensorError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"`{file}` must be a selector, got {type(error).__name__}: {error}.") from None


def _header(contents: bytes, file: str) -> dict[str, Any]:
    """The metadata of a safetensors file, read without trusting a length in it."""
    try:
        (length,) = struct.unpack_from("<Q", contents)
        if length > min(len(contents) - 8, LARGEST_HEADER):
            raise ValueError("a header longer than the file")
        header = json.loads(json.loads(contents[8 : 8 + length])["__metadata__"]["abstain"])
    except (struct.error, ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(
            f"`{file}` must be a selector written by Selector.save, got other or cut-off contents."
        ) from None
    if not isinstance(header, dict):
        raise ValueError(f"`{file}` must be a selector written by Selector.save, got another header.")
    return header


def calibrate(
    outputs: Outputs,
    /,
    *,
    score: str | None = None,
    risk: float | None = None,
    coverage: float | None = None,
    cost: float | ArrayLike | None = None,
    costs: ArrayLike | None = None,
    delta: float | None = 0.05,
    method: str | None = None,
    unlabelled: Outputs | None = None,
    seed: int = 0,
) -> Selector:
    """A selector for a target selective risk, coverage, or ``cost`` of rejecting, from outputs like those to come.

    A score that needs fitting gets rows of its own, drawn at random until five a class are in-distribution, or a fifth
    of all if it learns from labels, at most half; it is fitted on the in-distribution ones among them, and the
    threshold sees none of them. Rows that are not usable count as errors that are never accepted.
    The guarantee is that of the method, in ``selector.threshold.guarantee``; ``delta=None`` asks for a coverage in
    expectation only. ``unlabelled`` outputs of the same law save `fixed_sequence` its pilot and raise the coverage.

    An error costs 1 and ``cost`` is that of rejecting, one number or one for each true class; ``costs[ŷ, y]`` are other
    costs of predicting ŷ where y is true. The method ``minimal_cost`` chooses the threshold on the sample, ``chow``
    trusts probabilities, temperature-scaled on rows of every kind; both bound the expected cost.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=3000)
    >>> outputs = Outputs(logits=rng.normal(size=(3000, 3)) + 3 * np.eye(3)[labels], labels=labels)
    >>> selector = calibrate(outputs, risk=0.02, delta=0.1)
    >>> bool(outputs.errors[selector.accepts(outputs)].mean() < 0.02)
    True
    """
    if sum(target is not None for target in (risk, coverage, cost)) != 1:
        raise ValueError("`risk`, `coverage` or `cost` must be given, one of them, got several or none.")
    if delta is None and coverage is None:
        raise ValueError("`delta` must be given for a target risk or a cost, got None.")
    method = _method(method, risk=risk, cost=cost)
    if unlabelled is not None and method != "fixed_sequence":
        raise ValueError(f"`unlabelled` must go with a target risk and the method fixed_sequence, got {method}.")
    if unlabelled is not None and unlabelled.n_classes != outputs.n_classes:
        raise ValueError(f"`unlabelled` must have {outputs.n_classes} classes as well, got {unlabelled.n_classes}.")
    entry = _score(score, outputs, cost, costs, method)
    if objection := entry.objection(outputs):
        raise ValueError(f"`outputs` must have what {entry.name} needs, got {objection}.")
    fitting, rest = outputs, outputs
    if entry.is_fitted:
        share = LABELLED_SHARE if "labels" in entry.needs else 0.0
        by_cost = entry.name == EXPECTED_COST.name  # whose probabilities must be those of deployment
        fitting, rest = split_to_fit(outputs, seed=seed, share=share, shifted_too=by_cost)
    fitted = entry.fit(fitting)
    confidence = _accountable(fitted(rest))
    independent = confidence[one_of_each(rest.ids, len(rest), seed=seed)]
    if coverage is not None:
        threshold = target_coverage(confidence, coverage=coverage, delta=delta, ids=rest.ids, seed=seed)
    elif cost is not None:
        threshold = _by_cost(fitted, rest, confidence, cost, method, delta or 0.0, seed)
    else:
        pool = {} if unlabelled is None else {"unlabelled": _accountable(fitted(unlabelled))}
        threshold = RISK_METHODS[method](
            confidence, rest.errors, risk=risk or 0.0, delta=delta or 0.0, ids=rest.ids, seed=seed, **pool
        )
    law = ScoreLaw.of(independent, seed=seed)
    return Selector(entry.name, fitted, threshold, outputs.n_classes, law, outputs.class_names)


def _method(method: str | None, *, risk: float | None, cost: float | ArrayLike | None) -> str:
    known = tuple(RISK_METHODS) if risk is not None else COST_METHODS if cost is not None else ("target_coverage",)
    if method is not None and method not in known:
        raise ValueError(f"`method` must be one of {', '.join(known)}, got {method!r}.")
    return method or known[0]


def _score(
    name: str | None, outputs: Outputs, cost: float | ArrayLike | None, costs: ArrayLike | None, method: str
) -> Score:
    """The score asked for; that of expected cost where predicting by cost is."""
    if cost is None and costs is not None:
        raise ValueError("`costs` must come with `cost`, that of rejecting, got no `cost`.")
    if costs is None and method != "chow" and np.ndim(cost) == 0 and name != EXPECTED_COST.name:  # type: ignore[arg-type]
        name = name or "confidence_margin"
        if name not in SCORES:
            raise ValueError(f"`score` must be a known score, got {name!r}. `abstain scores` lists them.")
        return SCORES[name]
    if name not in (None, EXPECTED_COST.name):
        raise ValueError(f"`score` must be left out where predictions are weighed by costs, got {name!r}.")
    if cost is None:
        raise ValueError("`cost` must be given for the score expected_cost, got none.")
    Costs.of(outputs.n_classes, rejection=cost, matrix=costs)
    return replace(EXPECTED_COST, method=ExpectedCost(cost, costs))


def _accountable(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Confidence with rows that are not usable below any threshold."""
    return np.nan_to_num(confidence, nan=-np.inf, posinf=np.inf, neginf=-np.inf)


def _by_cost(
    fitted: Confidence,
    rest: Outputs,
    confidence: NDArray[np.float64],
    cost: float | ArrayLike,
    method: str,
    delta: float,
    seed: int,
) -> Threshold:
    if isinstance(fitted, FittedExpectedCost):
        if rest.labels is None:
            raise ValueError("`outputs` must have labels, got none.")
        accepting, rejecting = fitted.costs.paid(fitted.predictions(rest), rest.labels)
        largest = fitted.costs.largest
    else:
        accepting, rejecting = rest.errors.astype(np.float64), np.full(len(rest), float(np.asarray(cost)))
        largest = max(1.0, float(np.asarray(cost)))
    known: dict[str, Any] = {"rejection": rejecting, "largest": largest, "delta": delta, "ids": rest.ids, "seed": seed}
    return minimal_cost(confidence, accepting, threshold=0.0 if method == "chow" else None, **known)
