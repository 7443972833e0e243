"""What a learned score gained over one score alone."""

import numpy as np

from abstain import Outputs, calibrate
from abstain.scores.fitting_draw import split_to_fit
from abstain.scores.learned import Learned
from abstain.scores.logit_scores import Energy, MaxSoftmax
from abstain.thresholds import step_down


def draw(n, seed):
    """Ambiguous rows, which the margin sees, and faint ones of no class, which the energy sees."""
    rng = np.random.default_rng(seed)
    labels, unknown = rng.integers(3, size=n), rng.random(n) < 0.3
    logits = rng.normal(scale=1.5, size=(n, 3)) + 4 * np.eye(3)[labels]
    logits += (rng.normal(scale=2, size=n) - 8 * unknown - logits.max(axis=1))[:, None]
    return Outputs(logits=logits, labels=np.where(unknown, -1, labels))


def test_the_gain_is_that_over_the_best_single_score_on_the_rows_that_certify():
    outputs = draw(5000, 0)
    selector = calibrate(outputs, score=Learned((MaxSoftmax(), Energy())), risk=0.1, delta=0.1)
    _, rest = split_to_fit(outputs, seed=0, share=Learned.fitting_share)
    here = selector.accepts(rest).mean()
    alone = step_down(Energy()(rest), rest.errors, risk=0.1, delta=0.1).accepted / len(rest)
    (note,) = [note for note in selector.threshold.guarantee.caveats if note.startswith("learned accepts")]
    points = f"{100 * abs(here - alone):.1f} points {'more' if here >= alone else 'fewer'}"
    best = f"energy ({alone:.1%}), the best alone of the 2 that it weighs"
    assert note == f"learned accepts {here:.1%} of these rows, {points} than {best}"


def test_other_targets_and_other_scores_tell_of_no_gain():
    outputs = draw(2000, 1)
    learned = calibrate(outputs, score=Learned((MaxSoftmax(), Energy())), coverage=0.5)
    single = calibrate(outputs, score="energy", risk=0.2)
    assert not any("alone" in note for each in (learned, single) for note in each.threshold.guarantee.caveats)
