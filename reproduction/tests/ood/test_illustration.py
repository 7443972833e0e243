import numpy as np
import pytest

from abstain.metrics import aurc, fpr_at_tpr, ood_aupr, ood_auroc
from abstain_reproduction.ood.illustration import UNKNOWN, WRONG, illustration


@pytest.mark.parametrize("name", ["selection", "detector"])
def test_numbers_of_the_population_are_those_of_a_large_sample(name):
    score, rng, n = illustration()[name], np.random.default_rng(0), 400_000
    unknown = rng.random(n) < UNKNOWN
    wrong = (rng.random(n) < WRONG) | unknown
    means = np.select([unknown, wrong], [score.unknown, score.wrong], score.right)
    c = rng.normal(means)
    sides = c[~unknown], c[unknown]
    assert score.auroc == pytest.approx(ood_auroc(*sides), abs=0.01)
    assert score.aupr == pytest.approx(ood_aupr(*sides), abs=0.002)
    assert score.fpr(0.95) == pytest.approx(fpr_at_tpr(*sides), abs=0.02)
    assert score.aurc == pytest.approx(aurc(c, wrong), abs=0.002)


def test_the_detector_wins_by_the_papers_metrics_and_its_risk_rises():
    selection, detector = illustration().values()
    assert (selection.auroc, detector.auroc) == (pytest.approx(0.765), pytest.approx(0.944))
    assert (round(selection.aupr, 3), round(detector.aupr, 3)) == (0.987, 0.997)
    assert detector.aurc > selection.aurc
    assert (
        detector.risk_at_tpr(0.1)
        > detector.risk_at_tpr(0.95)
        > selection.risk_at_tpr(0.95)
        > selection.risk_at_tpr(0.1)
    )
