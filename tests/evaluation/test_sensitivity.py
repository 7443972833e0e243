import json

import numpy as np
import pytest
from scipy.special import softmax

import abstain
from abstain import Outputs, scale_sensitivity
from abstain.evaluation.figures.scale import scale_figure
from abstain.metrics import aurc


def four_gaussians(n=4000, seed=0):
    """The paper's toy: four Gaussians at the corners of a square and the linear classifier that is optimal for them."""
    rng = np.random.default_rng(seed)
    means = np.sqrt(0.5) * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    labels = rng.integers(4, size=n)
    x = means[labels] + rng.normal(scale=np.sqrt(0.15), size=(n, 2))
    return Outputs(logits=x @ means.T, labels=labels)


def test_each_point_is_the_area_of_the_scaled_logits():
    outputs = four_gaussians(500)
    result = scale_sensitivity(outputs, scales=[0.5, 2.0], alpha=0.5)
    scales, areas = result.curve("max_softmax")
    assert scales == [0.5, 2.0]
    for scale, area in zip(scales, areas, strict=True):
        probability = softmax(scale * outputs.logits, axis=1).max(1)
        assert area == pytest.approx(aurc(probability, outputs.errors, alpha=0.5))


@pytest.mark.parametrize("score", ["max_softmax", "doctor", "neg_entropy"])
def test_curves_run_into_their_limits(score, digits):
    result = scale_sensitivity(digits, scales=[1e-5, 1e4])
    _, (small, large) = result.curve(score)
    low, high = result.limits(score)
    assert small == pytest.approx(low, rel=1e-3)
    assert large == pytest.approx(high, rel=1e-3)
    assert high == result.margin == aurc(abstain.scores.confidence_margin(digits.logits), digits.errors)


def test_the_scale_matters_in_the_papers_toy():
    result = scale_sensitivity(four_gaussians())
    for score in ("max_softmax", "doctor", "neg_entropy"):
        _, areas = result.curve(score)
        assert max(areas) > 1.05 * min(areas)


def test_masked_classes_are_passed_over():
    z = np.random.default_rng(0).normal(size=(50, 4))
    z[:, 3] = -np.inf
    labels = np.random.default_rng(1).integers(3, size=50)
    masked, plain = (scale_sensitivity(Outputs(logits=z[:, :k], labels=labels), scales=[1.0]) for k in (4, 3))
    assert [row["aurc"] for row in masked.rows] == pytest.approx([row["aurc"] for row in plain.rows])


def test_rows_with_fewer_classes_come_first_in_the_limit():
    z = np.random.default_rng(0).normal(size=(60, 4))
    z[::2, 3] = -np.inf
    labels = np.random.default_rng(1).integers(3, size=60)
    result = scale_sensitivity(Outputs(logits=z, labels=labels), scales=[1e-5])
    for score in ("max_softmax", "doctor", "neg_entropy"):
        _, (small,) = result.curve(score)
        assert small == pytest.approx(result.limits(score)[0], rel=0.02)


def test_it_is_plain_data_and_a_figure(digits):
    result = scale_sensitivity(digits, scales=[0.1, 1.0])
    json.dumps(result.to_dict(), allow_nan=False)
    (axes,) = scale_figure(result).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        r"max_softmax (SR$_{\text{max}}$)",
        r"doctor (SR$_{\text{doctor}}$)",
        r"neg_entropy (SR$_{\text{ent}}$)",
        r"confidence_margin (RL$_{\text{conf-M}}$), any scale",
    ]


@pytest.mark.parametrize("scales", [[], [0.0], [-1.0], [np.inf]])
def test_scales_must_be_positive(scales):
    with pytest.raises(ValueError, match="`scales` must be positive and finite"):
        scale_sensitivity(four_gaussians(20), scales=scales)
