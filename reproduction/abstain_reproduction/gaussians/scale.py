"""The scale of the logits: §3.1, Fig. 2, Lemma 3.1 and the scale invariance of §3.2."""

from dataclasses import asdict

import numpy as np

from abstain.datasets import digits
from abstain.evaluation.sensitivity import scale_sensitivity
from abstain.scores import SCORES
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.gaussians.asymptotics import Ratios, ratios
from abstain_reproduction.gaussians.mixture import CORNERS, Mixture
from abstain_reproduction.gaussians.scale_curves import SCALES, ScaleCurves
from abstain_reproduction.gaussians.scale_figure import areas_figure, curves_figure
from abstain_reproduction.gaussians.scale_verdicts import (
    canonical_scale,
    changes,
    changes_on,
    lemma_holds,
    limit,
    margins_invariant,
    overlap,
    scale_claims,
)

POINT = np.array([1.0, 0.5])  # a sample to follow the lemma at: its logits have no ties
LEMMA_SCALES = (10.0, 100.0, 1000.0, 10000.0)
SAMPLE = 200_000


def run(setting: Setting) -> Findings:
    """Compute the population's curves, and the same diagnostic on real logits."""
    curves, real = ScaleCurves(Mixture()), digits()
    population, network = curves.sensitivity(), scale_sensitivity(real)
    lemma = [ratios(CORNERS @ POINT, scale=scale) for scale in LEMMA_SCALES]
    sample = Mixture().draw(SAMPLE, seed=setting.seed)
    return Findings(
        words="Four Gaussians and their optimal classifier with its logits scaled by λ: risk–coverage curves of the "
        "whole population, by quadrature, and the same diagnostic on a small network's real logits.",
        verdicts=(
            changes(curves),
            changes_on(real, "the digits network"),
            limit(curves),
            overlap(curves),
            lemma_holds(lemma),
            scale_claims(curves),
            canonical_scale(curves, seed=setting.seed),
            margins_invariant(sample, "the mixture"),
            margins_invariant(real, "the digits network"),
        ),
        tables=(_areas_table(curves), _lemma_table(lemma)),
        numbers={
            "population": population.to_dict(),
            "digits": network.to_dict(),
            "posterior": curves.posterior.aurc,
            "lemma": [asdict(ratio) for ratio in lemma],
        },
        figures={
            "scale": lambda: curves_figure(curves, sample),
            "aurc-over-scale": lambda: areas_figure(population, network, curves.posterior.aurc),
        },
    )


def _areas_table(curves: ScaleCurves) -> ResultTable:
    rows = [
        (
            SCORES[name].symbol,
            *(f"{100 * curve.aurc:.4f}" for curve in by_scale.values()),
            f"{curves.best_scale(name):.2f}",
        )
        for name, by_scale in curves.at_scales.items()
    ]
    margin, best = (f"{100 * curve.aurc:.4f}" for curve in (curves.margin, curves.posterior))
    rows += [("RL_conf-M, λ → ∞", *[margin] * len(SCALES), "any"), ("s_post", *[best] * len(SCALES), "any")]
    columns = ("score", *(f"λ = {scale:g}" for scale in SCALES), "best λ")
    return ResultTable("AURC × 100 of the population", columns, tuple(rows), "Computed to about 0.00002.")


def _lemma_table(lemma: list[Ratios]) -> ResultTable:
    rows = tuple(
        (
            f"{ratio.scaled_margin:.1f}",
            f"{ratio.max_softmax:.6f}",
            f"{ratio.doctor:.6f}",
            f"{ratio.neg_entropy:.2f}",
            f"{ratio.corrected:.6f}",
        )
        for ratio in lemma
    )
    columns = ("λΔ", "1 − SR_max", "SR_doctor", "SR_ent", "SR_ent over −(1 + λΔ)e^{−λΔ}")
    return ResultTable(
        "Each score over what the lemma says of it", columns, rows, "1 in the limit where the lemma holds."
    )


TITLE = "The scale of the logits moves softmax scores, and not margins"
SCALE = Experiment("scale", TITLE, run)
