"""What the scale of the logits does to the claims of §3.1 and §3.2."""

from collections.abc import Sequence

import numpy as np

from abstain.evaluation.sensitivity import SOFTMAX_SCORES
from abstain.metrics import aurc, compare
from abstain.outputs import Outputs
from abstain.scores import SCORES, confidence_margin, geometric_margin
from abstain.scores.rows import logit_rows
from abstain.scores.temperature import best_temperature
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.gaussians.asymptotics import Ratios
from abstain_reproduction.gaussians.doubt import SOFTMAX
from abstain_reproduction.gaussians.mixture import POSTERIOR_SCALE, Mixture
from abstain_reproduction.gaussians.scale_curves import SCALES, ScaleCurves
from abstain_reproduction.mean import Mean
from abstain_reproduction.paper.score_claims import OVERLAPPING

GROWING = (8.0, 16.0, 32.0, 64.0)
CALIBRATIONS, CALIBRATION_ROWS = 20, 1000
POPULATION = "the four Gaussians, their whole population by quadrature"

ROUNDING = 1e-6  # of an area: scaling rounds, and so parts rows that were tied


def changes(curves: ScaleCurves, /) -> ClaimVerdict:
    """Whether every softmax score's area moves with the scale."""
    areas_by_score = {name: [curve.aurc for curve in by_scale.values()] for name, by_scale in curves.at_scales.items()}
    words = "; ".join(f"{_symbol(name)} {_range(areas)}" for name, areas in areas_by_score.items())
    held = all(max(areas) > 1.01 * min(areas) for areas in areas_by_score.values())
    return ClaimVerdict.of("scale-changes-sr", held, f"AURC × 100 for λ = 0.1, 1, 2, 4: {words}", POPULATION)


def changes_on(outputs: Outputs, name: str, /) -> ClaimVerdict:
    """The same on real logits: the smallest of the paper's scales against the largest, paired."""
    words, sure = [], True
    small, large = (logit_rows(outputs.logits, temperature=1 / scale) for scale in (SCALES[0], SCALES[-1]))
    for score in SOFTMAX_SCORES:
        comparison = compare(score.from_sums(small), score.from_sums(large), outputs.errors, ids=outputs.ids)
        words.append(f"{score.symbol} {Mean(comparison.difference, comparison.se).times(100):+.2f}")
        sure = sure and comparison.is_significant
    evidence = f"AURC × 100 at λ = 0.1 less that at λ = 4: {'; '.join(words)}"
    return ClaimVerdict.of("scale-changes-sr", sure or None, evidence, f"{name}, {len(outputs):,} rows")


def overlap(curves: ScaleCurves, /) -> ClaimVerdict:
    """Whether SR_doctor and SR_max have almost the same area, at the scale of the logits as they are."""
    doctor, largest = (curves.at_scales[name][1.0].aurc for name in ("doctor", "max_softmax"))
    evidence = f"AURC × 100 at λ = 1: SR_doctor {100 * doctor:.3f}, SR_max {100 * largest:.3f}; they meet as λ grows"
    return ClaimVerdict.of("doctor-is-sr-max", abs(doctor - largest) < OVERLAPPING[0] * largest, evidence, POPULATION)


def limit(curves: ScaleCurves, /) -> ClaimVerdict:
    """Whether the curves come ever closer to that of the margin."""
    apart = {name: [curves.distance_to_margin(name, scale) for scale in GROWING] for name in SOFTMAX}
    held = all((np.diff(each) < 0).all() and each[-1] < each[0] / 4 for each in apart.values())
    words = "; ".join(
        f"{_symbol(name)} {', '.join(f'{100 * distance:.3f}' for distance in each)}" for name, each in apart.items()
    )
    evidence = (
        f"largest difference in risk × 100 to the margin over all coverages at λ = 8, 16, 32, 64: {words}. The limit "
        "is exact: the log-odds of SR_max over λ are within ln(K − 1)/λ of Δ"
    )
    return ClaimVerdict.of("scale-limit", held, evidence, POPULATION)


def lemma_holds(lemma: Sequence[Ratios], /) -> ClaimVerdict:
    """Whether each score over what the lemma says of it goes to 1."""
    last = lemma[-1]
    last_ratios = {"1 − SR_max": last.max_softmax, "SR_doctor": last.doctor, "SR_ent": last.neg_entropy}
    ratios = ", ".join(f"{name} {ratio:.6g}" for name, ratio in last_ratios.items())
    evidence = (
        f"ratio to the lemma at λΔ = {last.scaled_margin:.5g}: {ratios}. SR_ent lacks a factor of 1 + λΔ, with which "
        f"it is {last.corrected:.6f}; that it ranks as Δ in the limit stands"
    )
    held = all(abs(ratio - 1) < 1e-3 for ratio in last_ratios.values())
    return ClaimVerdict.of(
        "lemma", held, evidence, "logits of one sample, in logarithms and so without rounding to 0 or 1"
    )


def scale_claims(curves: ScaleCurves, /) -> ClaimVerdict:
    """Whether the worst of the three softmax scores, rescaled within the paper's scales, passes the best as it is."""
    orders = {}
    for scale in (1.0, 30.0):
        areas = {_symbol(name): 100 * curves.area(name, scale) for name in SOFTMAX}
        orders[scale] = dict(sorted(areas.items(), key=lambda item: item[1]))
    words = "; ".join(
        f"λ = {scale:g}: {' < '.join(f'{symbol} {area:.4f}' for symbol, area in order.items())}"
        for scale, order in orders.items()
    )
    worst, best = (list(orders[1.0])[index] for index in (-1, 0))
    rescaled = min(SOFTMAX, key=lambda name: _symbol(name) != worst)
    passing = 100 * curves.at_scales[rescaled][SCALES[-1]].aurc
    evidence = f"{worst}, the worst at λ = 1, has an AURC × 100 of {passing:.3f} at λ = {SCALES[-1]:g}. All at {words}"
    return ClaimVerdict.of("scale-claims", passing < orders[1.0][best], evidence, POPULATION)


def canonical_scale(curves: ScaleCurves, /, *, seed: int = 0) -> ClaimVerdict:
    """Whether the scale of lowest log-loss, which labelled rows give, is that of lowest AURC."""
    scales = [
        1 / best_temperature(curves.mixture.draw(CALIBRATION_ROWS, seed=1000 * (seed + 1) + draw))
        for draw in range(CALIBRATIONS)
    ]
    best = curves.best_scale("max_softmax")
    after = [f"{ScaleCurves(Mixture(spread)).best_scale('max_softmax'):.2g}" for spread in (0.5, 2.0)]
    there, margin = curves.area("max_softmax", POSTERIOR_SCALE), curves.margin.aurc
    is_canonical = abs(np.log(best / POSTERIOR_SCALE)) < 0.05 and there < margin
    evidence = (
        f"SR_max is best at λ = {best:.2f}; at λ = 1/σ² = {POSTERIOR_SCALE:.2f} it is the posterior and its AURC × 100 "
        f"of {100 * there:.4f} is below the margin's {100 * margin:.4f}. Temperature scaling on {CALIBRATION_ROWS:,} "
        f"labelled rows finds λ = {np.mean(scales):.2f} with a standard deviation of "
        f"{np.std(scales, ddof=1):.2f}. It is canonical only for the distribution it was found on: after "
        f"perturbations of ±0.5 and ±2 the best λ is {after[0]} and {after[1]}"
    )
    return ClaimVerdict.of("no-canonical-scale", not is_canonical, evidence, POPULATION)


def margins_invariant(outputs: Outputs, name: str, /) -> ClaimVerdict:
    """Whether the areas of the margins are the same at all scales."""
    spread = {}
    scaled = [scale * outputs.logits.astype(np.float64) for scale in SCALES]
    margins = {
        "RL_conf-M": [confidence_margin(z) for z in scaled],
        "RL_geo-M": [geometric_margin(z, outputs.weight) for z in scaled],
    }
    for symbol, confidences in margins.items():
        areas = [aurc(confidence, outputs.errors) for confidence in confidences]
        spread[symbol] = (areas[0], max(areas) - min(areas))
    words = "; ".join(
        f"{symbol} {100 * area:.4f}, {f'moved by {moved:.0e}' if moved else 'not moved'}"
        for symbol, (area, moved) in spread.items()
    )
    held = all(moved < ROUNDING for _, moved in spread.values())
    return ClaimVerdict.of("margin-scale-free", held, f"AURC × 100: {words}", f"{name}, {len(outputs):,} rows")


def _symbol(name: str) -> str:
    return SCORES[name].symbol


def _range(areas: Sequence[float]) -> str:
    return ", ".join(f"{100 * area:.3f}" for area in areas)
