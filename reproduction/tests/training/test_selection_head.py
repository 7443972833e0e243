from itertools import combinations

import numpy as np
import pytest

import abstain
from abstain.evaluation import MIXES
from abstain.metrics.intervals import ALPHAS
from abstain.outputs import Outputs
from abstain_reproduction.training.seed_interval import SeedInterval
from abstain_reproduction.training.selection_head import (
    CAPTION,
    HEAD,
    MARGIN,
    POST_HOC,
    SYMBOLS,
    all_better,
    comparable,
    not_best,
    pairs,
)


def gaps(**special):
    """No difference anywhere but where said."""
    names = list(SYMBOLS)
    keys = [(a, b, mix, 1.0) for i, a in enumerate(names) for b in names[i + 1 :] for mix in MIXES]
    made = dict.fromkeys(keys, SeedInterval(0.0, 0.01, 0.01, 5))
    for name, value in special.items():
        a, b = name.split("__")
        made |= {(a, b, mix, 1.0): SeedInterval(value, 0.0001, 0.0001, 5) for mix in MIXES}
    return made


LEVELS = {(score, mix): 0.1 for score in SYMBOLS for mix in MIXES}
BETTER = {f"{a}__{b}": -0.01 for a in (HEAD, MARGIN) for b in ("max_softmax", "sirc")}


@pytest.mark.parametrize(
    ("special", "outcome"),
    [
        (BETTER | {"selection_head__confidence_margin": 0.0}, "held"),
        (BETTER, "undecided"),  # head and margin may be alike, but nobody can tell
        (BETTER | {"selection_head__confidence_margin": 0.005}, "held"),  # a twentieth of the area
        (BETTER | {"selection_head__confidence_margin": 0.05}, "not held"),
        (BETTER | {"confidence_margin__max_softmax": 0.01}, "not held"),
        ({}, "undecided"),
    ],
)
def test_comparable_and_better_is_what_the_claim_says(special, outcome):
    assert comparable(gaps(**special), LEVELS, "data").outcome == outcome


@pytest.mark.parametrize(
    ("special", "outcome"),
    [
        ({"selection_head__sirc": 0.01}, "held"),
        ({}, "undecided"),
        ({f"selection_head__{score}": -0.01 for score in POST_HOC}, "not held"),
    ],
)
def test_not_always_best_is_what_the_claim_says(special, outcome):
    assert not_best(gaps(**special), "data").outcome == outcome


ALIKE = {f"{a}__{b}": 0.0 for a, b in combinations(POST_HOC, 2)}
BEHIND = {f"selection_head__{score}": 0.01 for score in POST_HOC}


@pytest.mark.parametrize(
    ("special", "outcome"),
    [
        (ALIKE | BEHIND, "held"),
        (BEHIND, "undecided"),  # the post-hoc scores may be alike, but nobody can tell
        (ALIKE | BEHIND | {"selection_head__sirc": -0.01}, "not held"),
        (ALIKE | BEHIND | {"confidence_margin__sirc": 0.05}, "not held"),
        (ALIKE, "undecided"),
    ],
)
def test_all_alike_and_better_than_the_head_is_what_the_claim_says(special, outcome):
    assert all_better(gaps(**special), LEVELS, "data").outcome == outcome


def test_the_panels_are_those_of_figure_6_and_the_caption_s_are_tested_as_ours():
    worse_with_unknown_classes = gaps(**BETTER, selection_head__confidence_margin=0.0)
    worse_with_unknown_classes[HEAD, MARGIN, "all", 1.0] = SeedInterval(0.05, 0.0001, 0.0001, 5)
    assert comparable(worse_with_unknown_classes, LEVELS, "data").outcome == "not held"
    assert comparable(worse_with_unknown_classes, LEVELS, "data", mixes=CAPTION).outcome == "held"


def test_areas_agree_with_the_evaluation_by_hand(digits):
    rng = np.random.default_rng(0)
    fields = ("labels", "features", "weight", "bias", "shift", "domain", "ids")
    outputs = Outputs(
        logits=digits.logits,
        confidences={HEAD: rng.normal(size=len(digits))},
        **{field: getattr(digits, field) for field in fields},
    )
    evaluation = abstain.evaluate(outputs, scores=list(SYMBOLS), alphas=ALPHAS, fitting="paper")
    pair = pairs([evaluation])[HEAD, "max_softmax", "in+cov", 0.5]
    rows = [evaluation.row(score, "in+cov", 0.5).aurc for score in (HEAD, "max_softmax")]
    assert pair.mean == pytest.approx(rows[0] - rows[1], rel=1e-9)
