import numpy as np

import abstain


def test_the_network_knows_its_digits_and_not_the_others(digits):
    clean = digits.select(digits.shift == "none")
    assert clean.errors.mean() < 0.05
    assert digits.select(digits.shift == "label").errors.all()
    assert digits.check_head().agrees


def test_corrupted_digits_are_copies_of_clean_ones(digits):
    clean, corrupted = (set(digits.ids[digits.shift == kind]) for kind in ("none", "covariate"))
    assert clean == corrupted
    assert set(digits.domain[digits.shift == "covariate"]) == {"noise", "blur", "tilt", "fade"}


def test_margins_beat_softmax_under_covariate_shift_as_in_the_paper(digits):
    evaluation = abstain.evaluate(digits)
    assert not evaluation.row("max_softmax", "in+cov", 1.0)["tied"]
    assert not evaluation.row("energy", "in+cov", 1.0)["tied"]
    areas = {score: evaluation.row(score, "in+cov", 1.0)["aurc"] for score in evaluation.scores}
    assert areas["confidence_margin"] < areas["max_softmax"] < areas["energy"]


def test_the_same_seed_gives_the_same_outputs(digits):
    from abstain.experiments.digits import digits as make

    np.testing.assert_array_equal(make(seed=0).logits, digits.logits)
    assert (make(seed=1).logits != digits.logits).any()
