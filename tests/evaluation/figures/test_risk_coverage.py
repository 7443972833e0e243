import numpy as np

from abstain import Outputs, evaluate
from abstain.evaluation.figures.risk_coverage import SHOWN, scores_to_draw
from abstain.scores import SCORES


def test_well_known_scores_and_the_best_of_each_family_are_drawn():
    rng = np.random.default_rng(0)
    labels, weight = rng.integers(4, size=400), rng.normal(size=(4, 6))
    features = weight[labels] + rng.normal(size=(400, 6))
    outputs = Outputs(logits=features @ weight.T, labels=labels, features=features, weight=weight)
    known = {name for name in SCORES if SCORES[name].about.is_well_known}
    others = ["feature_norm", "gen", "max_logit", "neg_entropy", "doctor", "pairwise_margin"]
    evaluation = evaluate(outputs, scores=[*known, *others])
    drawn = scores_to_draw(evaluation)
    assert len(evaluation.scores) > SHOWN > len(drawn)
    assert known == {"confidence_margin", "energy", "geometric_margin", "max_softmax"}
    assert known < set(drawn)
    assert "feature_norm" in drawn  # the only one of its family
