import numpy as np
import pytest

import abstain
from abstain.metrics import ood_auroc
from abstain_reproduction.comparison.separation import _auroc_difference, separates_less


def evaluated(selection, detector, *, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    errors = rng.random(n) < 0.2
    given = {
        name: rng.normal(size=n) - gap * errors for name, gap in (("confidence_margin", selection), ("vim", detector))
    }
    return abstain.evaluate(abstain.Outputs(confidences=given, errors=errors), scores=list(given))


@pytest.mark.parametrize(
    ("gaps", "outcome"), [((2.0, 0.5), "held"), ((0.5, 2.0), "not held"), ((1.0, 1.0), "undecided")]
)
def test_the_score_that_tells_right_from_wrong_better_is_found(gaps, outcome):
    evaluations = [evaluated(*gaps, seed=seed) for seed in range(3)]
    assert separates_less(evaluations, data="made").outcome == outcome


def test_areas_and_errors_are_those_of_auroc_and_the_bootstrap():
    evaluation = evaluated(1.5, 1.0)
    errors, confidence = evaluation.outputs.errors > 0, evaluation.confidence
    areas, difference, error, wrong = _auroc_difference(evaluation)
    expected = [ood_auroc(confidence[name][~errors], confidence[name][errors]) for name in ("confidence_margin", "vim")]
    assert areas == pytest.approx(expected)
    assert (difference, wrong) == (pytest.approx(expected[1] - expected[0]), errors.sum())
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(400):
        rows = rng.integers(0, len(errors), len(errors))
        e, c = errors[rows], {name: values[rows] for name, values in confidence.items()}
        drawn.append(ood_auroc(c["vim"][~e], c["vim"][e]) - ood_auroc(*(c["confidence_margin"][x] for x in (~e, e))))
    assert error == pytest.approx(np.std(drawn), rel=0.15)


def test_without_vim_or_wrong_answers_nothing_is_said():
    right = abstain.Outputs(confidences={"confidence_margin": [1.0, 2.0], "vim": [1.0, 2.0]}, errors=[False, False])
    assert separates_less([abstain.evaluate(right, scores=["confidence_margin", "vim"])], data="made") is None
