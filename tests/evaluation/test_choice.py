"""Scores as people name them, and those that outputs do not allow."""

import numpy as np
import pytest

import abstain
from abstain import Outputs, evaluate
from abstain.scores import KNN
from abstain.scores.given_confidence import Own


def half_gap(outputs):
    """Half of the gap between the two largest logits."""
    top = np.sort(outputs.logits, axis=1)
    return (top[:, -1] - top[:, -2]) / 2


def test_scores_that_lack_an_input_are_listed_with_the_reason(mixed_outputs):
    evaluation = evaluate(mixed_outputs())
    assert evaluation.left_out["geometric_margin"] == "the outputs have no head"
    assert "geometric_margin" not in evaluation.scores


def test_nothing_left_is_an_error(mixed_outputs):
    with pytest.raises(
        ValueError, match=r"one that these outputs allow, got geometric_margin: the outputs have no head"
    ):
        evaluate(mixed_outputs(), scores=["geometric_margin"])


def test_an_unknown_score_suggests_the_nearest(mixed_outputs):
    with pytest.raises(ValueError, match=r"got 'max_sofmax'. Did you mean max_softmax\?"):
        evaluate(mixed_outputs(), scores=["max_sofmax"])
    with pytest.raises(ValueError, match=r"got 'zzz'. `abstain scores` lists them"):
        evaluate(mixed_outputs(), scores="zzz")
    with pytest.raises(ValueError, match=r"at least one score, got none"):
        evaluate(mixed_outputs(), scores=[])


def test_a_masked_class_leaves_out_only_what_cannot_be_had(mixed_outputs):
    outputs = mixed_outputs()
    z = outputs.logits.copy()
    z[0, 1] = -np.inf
    evaluation = evaluate(Outputs(logits=z, labels=outputs.labels, shift=outputs.shift))
    assert evaluation.left_out["knn_logits"] == "the outputs have a masked class (a logit of −inf)"
    assert "max_logit_pnorm" in evaluation.scores


def test_score_objects_settings_side_by_side_and_functions_are_scores_like_any_other(digits):
    ks = [KNN(k=k) for k in (1, 2, 3, 5, 10)]
    evaluation = evaluate(digits, scores=[*ks, "knn(k=20)", half_gap, "confidence_margin"])
    assert evaluation.scores == [
        *("knn(k=1)", "knn", "knn(k=3)", "knn(k=5)", "knn(k=10)", "knn(k=20)"),
        *("half_gap", "confidence_margin"),
    ]
    assert evaluation.row("half_gap", "all", 1.0).aurc == evaluation.row("confidence_margin", "all", 1.0).aurc
    assert len({evaluation.row(k.name, "all", 1.0).aurc for k in ks}) == len(ks)


def test_given_confidences_are_evaluated_beside_the_others(mixed_outputs):
    outputs = mixed_outputs()
    margin = abstain.scores.confidence_margin(outputs.logits)
    given = Outputs(logits=outputs.logits, labels=outputs.labels, shift=outputs.shift, confidences={"vendor": margin})
    evaluation = evaluate(given, scores=["vendor", "confidence_margin"])
    assert evaluation.row("vendor", "all", 1.0).aurc == evaluation.row("confidence_margin", "all", 1.0).aurc
    alone = Outputs(confidences={"vendor": margin}, errors=outputs.errors, shift=outputs.shift)
    assert evaluate(alone).scores == ["vendor"]


def test_a_given_confidence_may_have_the_name_of_a_score(mixed_outputs):
    outputs = mixed_outputs()
    given = Outputs(logits=outputs.logits, labels=outputs.labels, confidences={"max_softmax": np.arange(900.0)})
    evaluation = evaluate(given)
    assert (evaluation.confidence["max_softmax"] == np.rint(evaluation.confidence["max_softmax"])).all()


def test_wrong_kinds_of_scores_are_refused(mixed_outputs):
    with pytest.raises(TypeError, match="`score` must be a name, a score or a function of outputs, got int"):
        evaluate(mixed_outputs(), scores=[3])
    with pytest.raises(ValueError, match=r"`option of knn` must be one of k, space, got 'q'"):
        evaluate(mixed_outputs(), scores=["knn(q=3)"])
    with pytest.raises(ValueError, match=r"name\(option=value\)"):
        evaluate(mixed_outputs(), scores=["knn(3)"])
    with pytest.raises(ValueError, match="two of the name 'half_gap'"):
        evaluate(mixed_outputs(), scores=[half_gap, Own("half_gap", len)])
    with pytest.raises(ValueError, match="`flat` must give a confidence for each of 900 rows"):
        evaluate(mixed_outputs(), scores=[Own("flat", lambda _: 1.0)])
    with pytest.raises(TypeError, match="`outputs` must be Outputs, got ndarray"):
        evaluate(np.ones((3, 2)))
