"""Real models under real shifts: what each method estimates without labels, and what the labels say."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.monitor import estimate_risk
from abstain.outputs import Outputs
from abstain.selector import Selector, calibrate
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain_reproduction.draws import generator

COVERAGES = (0.6, 0.9)
UNKNOWN = 0.1  # of the rows, where classes are unknown: a whole sample of them is all wrong, and no selector's task
FEWEST = 100  # rows of a shift of its own
FEWEST_ACCEPTED = 50  # the risk of fewer is mostly chance
KNOWN = 1 / 3  # of the samples, at least, to calibrate on
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class EstimateCase:
    """One selector on the rows of one shift."""

    model: str
    kind: str
    """none, covariate or unknown."""
    domain: str
    coverage: float
    """That the selector was calibrated for."""
    accepted: int
    before: float
    """Selective risk on the reference rows."""
    truth: float
    """Selective risk on the new rows."""
    accuracy: float
    """Of all new rows."""
    risks: dict[str, float]
    """By method."""
    accuracies: dict[str, float]


def estimate_cases(model: str, outputs: Outputs, /, *, seed: int) -> Iterator[EstimateCase]:
    """Every shift of a model under two selectors, calibrated on in-distribution rows that are also the reference."""
    rows = outputs.select(outputs.usable)
    known = known_samples(rows, seed=seed)
    reference = rows.select(known & (rows.shift == "none"))
    shifts = list(new_rows(rows, known, seed=seed))
    for coverage in COVERAGES:
        try:
            selector = calibrate(reference, coverage=coverage)
        except NoSafeThresholdError:
            continue
        for kind, domain, chosen in shifts:
            case = _case(selector, reference, rows.select(chosen))
            if case is not None:
                yield EstimateCase(model, kind, domain, coverage, *case)


def known_samples(rows: Outputs, /, *, seed: int) -> Mask:
    """(n,) rows of samples to calibrate on: those without shifted copies if they are a third, else a random half."""
    sample, count = rows.samples
    inside = np.bincount(sample, weights=rows.shift == "none", minlength=count) > 0
    shifted = np.bincount(sample, weights=rows.shift != "none", minlength=count) > 0
    free = inside & ~shifted
    if free.sum() < KNOWN * inside.sum() or free.all() or free.sum() == inside.sum():
        free = inside & (generator("samples to calibrate on", seed, [count]).random(count) < 0.5)
    return np.asarray(free[sample])


def new_rows(rows: Outputs, known: Mask, /, *, seed: int) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """The kind, name and indices of every shift, of samples that were not calibrated on."""
    fresh = np.flatnonzero(~known & (rows.shift == "none"))
    yield "none", "none", fresh
    domain = np.asarray(rows.domain if rows.domain is not None else rows.shift)
    shifted = np.flatnonzero(~known & (rows.shift == "covariate"))
    for name in np.unique(domain[shifted]):
        chosen = shifted[domain[shifted] == name]
        if len(chosen) >= FEWEST:
            yield "covariate", str(name), chosen
    if len(shifted):
        yield "covariate", "all", shifted
    for name in np.unique(domain[rows.shift == "label"]):
        rng = generator("unknown rows among others", seed, [len(rows)])
        unknown = rng.permutation(np.flatnonzero((rows.shift == "label") & (domain == name)))
        few = max(1, round(len(fresh) * UNKNOWN / (1 - UNKNOWN)))
        yield "unknown", str(name), np.r_[fresh, unknown[:few]]


def _case(
    selector: Selector, reference: Outputs, new: Outputs
) -> tuple[int, float, float, float, dict[str, float], dict[str, float]] | None:
    """None where too few of the new rows are accepted."""
    accepted = selector.accepts(new)
    if np.count_nonzero(accepted) < FEWEST_ACCEPTED:
        return None
    result = estimate_risk(selector, new, reference=reference)
    return (
        int(accepted.sum()),
        result.reference.risk,
        float(new.errors[accepted].mean()),
        float(1 - new.errors.mean()),
        {each.method: each.risk for each in result.estimates},
        {each.method: each.accuracy for each in result.estimates},
    )
