"""Draw the figures of the concepts, and the data of the interactive one: python docs/concepts/figures.py."""

import json
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from abstain.datasets import digits
from abstain.errors import NoSafeThresholdError
from abstain.metrics import risk_coverage
from abstain.scores import confidence_margin, doctor, max_softmax, neg_entropy
from abstain.thresholds import target_risk
from abstain_reproduction.gaussians.mixture import Mixture
from abstain_reproduction.gaussians.population import PopulationCurve
from abstain_reproduction.gaussians.scale_curves import ScaleCurves

HERE = Path(__file__).parent
GREY, BLUE, ORANGE, GREEN = "#8a8a8a", "#3b8ed0", "#e2711d", "#2a9d6f"  # readable on white and on black
STYLE = {
    "svg.hashsalt": "abstain",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), GREY),
}
SCALES = np.logspace(-1.5, 1.5, 31)
COVERAGES = np.linspace(0.02, 1, 50)
SOFTMAX = {"max_softmax": max_softmax, "doctor": doctor, "neg_entropy": neg_entropy}


def three_errors(figure: Figure) -> None:
    """Two known classes, an unknown one, and a shifted copy, beside the boundary of the classifier."""
    rng = np.random.default_rng(3)
    ax = figure.subplots()
    groups = (
        (rng.normal((-2, 0), 0.9, (60, 2)), BLUE, "o", "class 1"),
        (rng.normal((2, 0), 0.9, (60, 2)), GREEN, "s", "class 2"),
        (rng.normal((3.2, 3.3), 0.35, (16, 2)), ORANGE, "^", "a class it does not know"),
        (rng.normal((0.4, -2.9), 0.5, (24, 2)), BLUE, "x", "class 1 under fog"),
    )
    for points, colour, marker, label in groups:
        ax.scatter(*points.T, c=colour, marker=marker, s=28, label=label, alpha=0.85)
    ax.axvline(0, color=GREY, linestyle="--")
    ax.annotate("the classifier's boundary", (0, 4.2), (0.15, 4.2))
    for name, at in (("A", (0.0, 1.6)), ("B", (4.3, 3.3)), ("C", (1.9, -2.9))):
        ax.text(*at, name, fontsize=22, weight="bold", ha="center", va="center")
    ax.set(xticks=[], yticks=[], xlim=(-5, 5.5), ylim=(-4.5, 4.8))
    ax.legend(loc="lower left")


def order(figure: Figure) -> None:
    """Three confidences with one order, and the one curve that they share."""
    rng = np.random.default_rng(5)
    confidence = np.sort(rng.random(14))
    wrong = rng.random(14) < 0.9 - confidence
    left, right = figure.subplots(1, 2)
    scales: tuple[tuple[str, Callable[[np.ndarray], np.ndarray]], ...] = (
        ("c", lambda c: c),
        ("c⁴", lambda c: c**4),
        ("1 − (1 − c)³", lambda c: 1 - (1 - c) ** 3),
    )
    for row, (_, change) in enumerate(scales):
        for kind, colour, marker in ((~wrong, BLUE, "o"), (wrong, ORANGE, "x")):
            left.scatter(change(confidence)[kind], np.full(kind.sum(), -row), c=colour, marker=marker, s=45)
    left.set(yticks=[0, -1, -2], yticklabels=[name for name, _ in scales], xlabel="confidence", ylim=(-2.6, 0.6))
    left.set_title("three scores (× wrong answers)", fontsize=11)
    curve = risk_coverage(confidence, wrong)
    right.step(curve.coverage, curve.risk, color=BLUE, where="post")
    right.set(xlabel="coverage", ylabel="selective risk", ylim=(0, None))
    right.set_title("one curve", fontsize=11)


def ties(figure: Figure) -> None:
    """Softmax in single precision says 1 to many samples; the logarithm still ranks them."""
    rows = digits()
    logits = 4 * rows.logits.astype(np.float32)
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    saturated = 1 / shifted.sum(axis=1)
    ax = figure.subplots()
    for confidence, colour, line, label in (
        (max_softmax(logits), BLUE, "-", "largest probability in the log domain: no ties"),
        (saturated, ORANGE, "--", f"the same in float32: a share of {np.mean(saturated == 1):.2f} is exactly 1"),
    ):
        curve = risk_coverage(confidence, rows.errors)
        ax.plot(curve.coverage, curve.risk, color=colour, linestyle=line, label=label)
    ax.plot(curve.coverage[0], curve.risk[0], "o", color=ORANGE)
    ax.set(xlabel="coverage", ylabel="selective risk", xlim=(0, 1), ylim=(0, None))
    ax.legend(loc="upper left")


def guarantee(figure: Figure) -> None:
    """The true risk of 200 thresholds by a rule with a guarantee, and by one that trusts the sample."""
    rows, rng, target = digits(), np.random.default_rng(1), 0.1
    confidence, errors = confidence_margin(rows.logits), rows.errors.astype(float)
    left, right = figure.subplots(1, 2, sharey=True)
    for ax, rule, title in (
        (left, _looks_good, "looks good on the sample"),
        (right, _certified, "certified, δ = 0.05"),
    ):
        risks = []
        for _ in range(200):
            drawn = rng.integers(len(errors), size=1000)
            accepted = confidence > rule(confidence[drawn], errors[drawn], target)
            risks.append(errors[accepted].mean() if accepted.any() else 0.0)
        above = np.array(risks) > target
        for kind, colour, marker in ((~above, BLUE, "o"), (above, ORANGE, "x")):
            ax.scatter(np.flatnonzero(kind), np.array(risks)[kind], c=colour, marker=marker, s=16)
        ax.axhline(target, color=GREY, linestyle="--")
        ax.set_title(f"{title}: {above.sum()} of 200 above", fontsize=11)
        ax.set(xlabel="calibration sample", ylim=(0, 0.2))
    left.set_ylabel("true error rate of the answers")


def _looks_good(confidence: np.ndarray, errors: np.ndarray, target: float) -> float:
    curve = risk_coverage(confidence, errors)
    allowed = np.flatnonzero(curve.risk <= target)
    return float(curve.threshold[allowed[-1]]) if len(allowed) else np.inf


def _certified(confidence: np.ndarray, errors: np.ndarray, target: float) -> float:
    try:
        return float(target_risk(confidence, errors, risk=target, delta=0.05).value)
    except NoSafeThresholdError:
        return np.inf  # answer nothing


def scale_data() -> dict[str, object]:
    """Risk–coverage curves at every scale, of the paper's four Gaussians and of the digits; the margin has one."""
    return {
        "scales": SCALES.round(4).tolist(),
        "coverages": COVERAGES.round(2).tolist(),
        "gaussians": _gaussians(),
        "digits": _digits(),
    }


def _gaussians() -> dict[str, object]:
    """Of the whole population, without a sample."""
    curves = ScaleCurves(Mixture())
    values = {name: [_risks(curves.curve(name, scale)) for scale in SCALES] for name in SOFTMAX}
    return values | {"margin": _risks(curves.margin)}


def _risks(curve: PopulationCurve) -> list[float]:
    return curve.risk_at(COVERAGES).round(4).tolist()


def _digits() -> dict[str, object]:
    rows = digits()

    def curve(confidence: np.ndarray) -> list[float]:
        result = risk_coverage(confidence, rows.errors)
        return np.interp(COVERAGES, result.coverage, result.risk).round(4).tolist()

    values = {name: [curve(score(scale * rows.logits)) for scale in SCALES] for name, score in SOFTMAX.items()}
    return values | {"margin": curve(confidence_margin(rows.logits))}


FIGURES = {three_errors: (6.5, 4), order: (7.5, 3), ties: (6.5, 3.4), guarantee: (7.5, 3.4)}


def main() -> None:
    """Write every file."""
    with mpl.rc_context(STYLE):
        for draw, size in FIGURES.items():
            figure = Figure(figsize=size, layout="constrained")
            draw(figure)
            name = draw.__name__.replace("_", "-")
            figure.savefig(HERE / "images" / f"{name}.svg", transparent=True, metadata={"Date": None})
    script = f"const SCALE_DATA = {json.dumps(scale_data(), separators=(',', ':'))};\n"
    (HERE.parent / "_static" / "scale-data.js").write_text(script, encoding="utf-8")


if __name__ == "__main__":
    main()
