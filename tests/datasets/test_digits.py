import hashlib
from importlib.resources import files

import numpy as np

import abstain
from abstain.datasets.digits_network import train_digits, write

DIGEST = "a030b6bc5c9f79c89be57ff62d8c55e3597c41a2f9a07759422a1c59c028406e"


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
    assert not evaluation.row("max_softmax", "in+cov", 1.0).tied
    assert not evaluation.row("energy", "in+cov", 1.0).tied
    areas = {score: evaluation.row(score, "in+cov", 1.0).aurc for score in evaluation.scores}
    assert areas["confidence_margin"] < areas["max_softmax"] < areas["energy"]


def test_the_shipped_file_is_the_one_that_the_documented_numbers_are_of():
    file = files("abstain.datasets") / "digits.npz"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == DIGEST
    assert len(file.read_bytes()) < 400_000


def test_the_shipped_file_names_what_made_it():
    with np.load(files("abstain.datasets") / "digits.npz") as arrays:
        assert "python -m abstain.datasets.digits_network" in str(arrays["about"])


def test_shipped_logits_are_exact_sums_of_shipped_features(digits):
    """In any order of addition, so that no processor finds a head that disagrees."""
    product = [
        sum((f * w for f, w in zip(row, digits.weight[0], strict=True)), digits.bias[0])
        for row in digits.features[:50].astype(float)
    ]
    np.testing.assert_array_equal(np.array(product, dtype=np.float32), digits.logits[: len(product), 0])


def test_training_again_gives_nearly_the_shipped_outputs(digits, tmp_path):
    write(tmp_path / "digits.npz")
    with np.load(tmp_path / "digits.npz") as arrays:
        assert (arrays["ids"] == digits.ids).all()
        assert (arrays["logits"].argmax(1) == digits.logits.argmax(1)).mean() > 0.97


def test_another_seed_trains_another_network(digits):
    assert (train_digits(seed=1).logits.argmax(1) != digits.logits.argmax(1)).any()
