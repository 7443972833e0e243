import pytest

from abstain_reproduction.training import margin_gains
from abstain_reproduction.training.margin_of_loss import MarginOfLoss
from abstain_reproduction.training.seed_interval import SeedInterval


def gains(*values):
    """Of the hinge loss, by margin and mix."""
    keys = [f"{score} {mix}" for score in margin_gains.MARGINS for mix in margin_gains.MIXES]
    return {key: {"hinge": SeedInterval(v, 0.0001, 0.0, 5)} for key, v in zip(keys, values, strict=True)}


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ([-0.01] * 8, "held"),
        ([-0.01] * 5 + [0.01] * 3, "held"),
        ([-0.01] * 4 + [0.0] * 4, "undecided"),
        ([0.0] * 7 + [0.01], "undecided"),  # one comparison refutes no claim of most
        ([-0.01] * 4 + [0.01] * 4, "not held"),
        ([0] * 8, "undecided"),
    ],
)
def test_better_in_most_mixes_is_what_the_question_asks(values, outcome):
    assert margin_gains._verdict("hinge", gains(*values), "data").outcome == outcome


@pytest.mark.parametrize(
    ("margins", "outcome"),
    [
        ([MarginOfLoss(0.99, 0.95, 0.5)] * 2, "held"),
        ([MarginOfLoss(0.99, 0.95, 0.5), MarginOfLoss(0.99, 0.7, 0.5)], "undecided"),
        ([MarginOfLoss(0.3, 0.95, 0.5)], "not held"),
    ],
)
def test_the_worst_seed_decides_about_cross_entropy(margins, outcome):
    assert margin_gains._footnote(margins, "data").outcome == outcome
