import json

import numpy as np
import pytest

import abstain
from abstain import Outputs, evaluate
from abstain.kernels import blocks
from abstain.metrics import augrc, aurc, aurc_se, compare, coverage_at_risk, ood_auroc
from abstain.outputs import taken
from abstain.scores import KNN, SCORES
from abstain.scores.energy import Energy
from abstain.scores.given import Own
from abstain.scores.learned import Learned
from abstain.scores.max_softmax import MaxSoftmax


def mixed_outputs(n=300, seed=0):
    """A third of the rows clean, a third shifted copies of them, a third of unknown classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=n)
    clean = rng.normal(size=(n, 4)) + 2.5 * np.eye(4)[labels]
    shifted = clean + rng.normal(scale=1.5, size=(n, 4))
    return Outputs(
        logits=np.vstack([clean, shifted, rng.normal(size=(n, 4))]),
        labels=np.concatenate([labels, labels, np.full(n, -1)]),
        shift=np.repeat(["none", "covariate", "label"], n),
        ids=np.concatenate([np.arange(n), np.arange(n), np.arange(n, 2 * n)]),
    )


def test_rows_are_what_the_metrics_give():
    outputs = mixed_outputs()
    evaluation = evaluate(outputs, scores=["max_softmax", "energy"])
    assert len(evaluation.rows) == 2 * 4 * 3
    kept = outputs.shift != "label"
    confidence = abstain.scores.energy(outputs.logits)[kept]
    row = evaluation.row("energy", "in+cov", 0.5)
    assert row["aurc"] == aurc(confidence, outputs.errors[kept], alpha=0.5)
    assert row["se"] == aurc_se(confidence, outputs.errors[kept], alpha=0.5, ids=outputs.ids[kept])
    assert (row["n"], row["errors"]) == (600, outputs.errors[kept].sum())
    assert row["low"] < row["aurc"] < row["high"]


def test_the_best_of_a_column_is_marked_and_ties_are_paired():
    outputs = mixed_outputs()
    evaluation = evaluate(outputs, scores=["max_softmax", "doctor", "energy", "confidence_margin"], alphas=[1.0])
    column = [row for row in evaluation.rows if row["mix"] == "all"]
    best = evaluation.best("all")
    assert best["aurc"] == min(row["aurc"] for row in column)
    z, e = outputs.logits, outputs.errors
    for row in column:
        confidences = (abstain.scores.logit_scores(z)[name] for name in (row["score"], best["score"]))
        comparison = compare(*confidences, e, ids=outputs.ids)
        assert row["tied"] == (row["best"] or not comparison.low > 0)


def test_scores_that_lack_an_input_are_listed_with_the_reason():
    evaluation = evaluate(mixed_outputs())
    assert evaluation.left_out["geometric_margin"] == "the outputs have no head"
    assert "geometric_margin" not in evaluation.scores


def test_nothing_left_is_an_error():
    with pytest.raises(ValueError, match=r"got only geometric_margin; geometric_margin: the outputs have no head"):
        evaluate(mixed_outputs(), scores=["geometric_margin"])


def test_an_unknown_score_suggests_the_nearest():
    with pytest.raises(ValueError, match=r"got 'max_sofmax'. Did you mean max_softmax\?"):
        evaluate(mixed_outputs(), scores=["max_sofmax"])
    with pytest.raises(ValueError, match=r"got 'zzz'. `abstain scores` lists them"):
        evaluate(mixed_outputs(), scores="zzz")
    with pytest.raises(ValueError, match=r"at least one score, got none"):
        evaluate(mixed_outputs(), scores=[])


def test_mixes_that_are_not_there_are_left_out_and_no_rows_come_twice():
    outputs = mixed_outputs()
    assert evaluate(outputs).mixes == ["in", "in+cov", "in+label", "all"]
    assert evaluate(outputs.select(outputs.shift == "none")).mixes == ["in"]
    assert evaluate(outputs.select(outputs.shift != "label")).mixes == ["in", "in+cov"]
    assert evaluate(outputs.select(outputs.shift == "covariate")).mixes == ["all"]


def test_labels_are_needed():
    with pytest.raises(ValueError, match=r"`outputs` must have labels"):
        evaluate(Outputs(logits=np.ones((3, 2))))


def test_one_sample_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"at least 2 different samples to be evaluated, got 1 row"):
        evaluate(Outputs(logits=[[2.0, 0.0]], labels=[0]))


def test_a_mix_of_one_sample_is_left_out_with_a_note():
    outputs = Outputs(
        logits=[[1.0, 0.0], [0.0, 1.0], [1.0, 0.5]], labels=[0, 1, 1], shift=["none", "covariate", "covariate"]
    )
    evaluation = evaluate(outputs)
    assert evaluation.mixes == ["in+cov"]
    assert any("Mix in is left out" in note for note in evaluation.notes)


@pytest.mark.parametrize("wrong", [False, True])
def test_all_right_and_all_wrong_are_defined(wrong):
    z = np.random.default_rng(0).normal(size=(50, 3))
    labels = (z.argmax(1) + wrong) % 3
    evaluation = evaluate(Outputs(logits=z, labels=labels))
    assert {row["aurc"] for row in evaluation.rows} == {float(wrong)}
    json.dumps(evaluation.to_dict(), allow_nan=False)


def test_without_fitted_scores_nothing_is_removed():
    outputs = mixed_outputs()
    assert evaluate(outputs, scores=["energy"]).n == len(outputs)


def test_nonfinite_rows_count_as_rejected_errors():
    outputs = mixed_outputs()
    z = outputs.logits.copy()
    z[:3] = np.nan
    broken = Outputs(logits=z, labels=outputs.labels, shift=outputs.shift, nonfinite="reject")
    evaluation = evaluate(broken, scores=["confidence_margin"])
    confidence = abstain.scores.confidence_margin(np.nan_to_num(z))
    confidence[:3] = -np.inf
    assert evaluation.row("confidence_margin", "all", 1.0)["aurc"] == aurc(confidence, broken.errors)
    assert any("3 rows are not finite" in note for note in evaluation.notes)
    assert evaluation.curve("confidence_margin", "all").coverage[-1] == pytest.approx(1 - 3 / len(broken))


def test_the_disagreement_of_the_argmaxes_is_reported(digits):
    assert any("another class than the largest logit in" in note for note in evaluate(digits).notes)


def test_a_head_that_does_not_make_the_logits_is_reported():
    rng = np.random.default_rng(0)
    outputs = Outputs(
        logits=rng.normal(size=(40, 3)),
        labels=rng.integers(3, size=40),
        features=rng.normal(size=(40, 2)),
        weight=np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]),
    )
    evaluation = evaluate(outputs)
    assert any("does NOT make the logits" in note for note in evaluation.notes)
    assert evaluation.left_out["geometric_margin"] == "the outputs have a weight of norm zero at class 2"


def test_a_masked_class_leaves_out_only_what_cannot_be_had():
    outputs = mixed_outputs()
    z = outputs.logits.copy()
    z[0, 1] = -np.inf
    evaluation = evaluate(Outputs(logits=z, labels=outputs.labels, shift=outputs.shift))
    assert evaluation.left_out["knn_logits"] == "the outputs have a masked class (a logit of −inf)"
    assert "max_logit_pnorm" in evaluation.scores


def test_a_calibration_sample_with_nan_rows_is_used_without_them(digits):
    first, second = digits.split(0.3, seed=1)
    inside = first.select(first.shift == "none")
    x = inside.features.copy()
    x[3, 0] = np.nan
    broken = Outputs(
        logits=inside.logits,
        features=x,
        labels=inside.labels,
        weight=inside.weight,
        bias=inside.bias,
        nonfinite="reject",
    )
    scores = ["knn", "vim", "rmds", "delta_mds"]
    expected = evaluate(second, scores=scores, fitting=inside.select(np.arange(len(inside)) != 3))
    assert evaluate(second, scores=scores, fitting=broken).rows == expected.rows


def test_samples_in_the_calibration_and_in_the_evaluation_are_noticed(digits):
    notes = evaluate(digits, scores=["knn"], fitting=digits.select(digits.shift == "none")).notes
    assert any("866 ids are in the fitting sample and in the evaluation" in note for note in notes)


def test_missing_rows_are_named():
    evaluation = evaluate(mixed_outputs(), scores=["energy"])
    with pytest.raises(KeyError, match=r"no row for score 'energy', mix 'in' and alpha 0.3"):
        evaluation.row("energy", "in", 0.3)
    with pytest.raises(KeyError, match="no rows for mix 'in'"):
        evaluation.best("in", 0.3)
    with pytest.raises(ValueError, match="`alphas` must name at least one"):
        evaluate(mixed_outputs(), alphas=[])


def test_rows_become_frames():
    evaluation = evaluate(mixed_outputs(), scores=["energy"])
    assert evaluation.to_polars()["aurc"].to_list() == evaluation.to_pandas()["aurc"].tolist()


def test_progress_runs_from_nothing_to_all():
    seen = []
    evaluate(mixed_outputs(), scores=["energy"], progress=lambda _, share: seen.append(share))
    assert seen[0] == 0
    assert seen[-1] == 1
    assert seen == sorted(seen)


def test_every_score_of_the_registry_can_be_had_with_features_and_head(digits):
    first, second = digits.split(0.3, seed=1)
    evaluation = evaluate(second, fitting=first.select(first.shift != "label"))
    assert evaluation.scores == [name for name, score in SCORES.items() if not score.on_request]
    assert not evaluation.left_out
    assert evaluation.n == len(second)


def test_fitting_rows_leave_with_their_copies_and_for_all_scores(digits):
    evaluation = evaluate(digits, scores=["max_softmax", "knn"], fitting="paper")
    left = len(digits) - evaluation.n
    assert left == 5 * digits.n_classes * 5  # 40 clean samples, each with 4 corrupted copies
    assert {row["n"] for row in evaluation.rows if row["mix"] == "in"} == {866 - 40}
    assert evaluate(digits, scores=["knn"], fitting="paper", seed=1).rows != evaluation.rows


def test_at_most_half_of_the_in_distribution_rows_are_used():
    outputs = mixed_outputs(n=20)
    few = outputs.select(np.r_[0:12, 20:60])
    evaluation = evaluate(few, scores=["knn_logits"], fitting="paper")
    assert evaluation.row("knn_logits", "in", 1.0)["n"] == 6
    kept = evaluate(few, scores=["knn_logits"]).outputs.ids
    assert len(np.unique(kept)) >= len(np.unique(few.ids)) // 2


def test_scores_that_cannot_be_fitted_are_listed_with_the_reason(digits):
    right = digits.select((digits.shift == "none") & ~digits.errors)
    assert "no wrong prediction" in evaluate(digits, fitting=right).left_out["delta_knn"]
    shifted = digits.select(digits.shift != "none")
    assert "too few in-distribution samples" in evaluate(shifted).left_out["knn"]
    bare = Outputs(logits=digits.logits[:50], labels=digits.labels[:50])
    assert evaluate(digits, fitting=bare).left_out["knn"] == "the fitting outputs have no features"


def half_gap(outputs):
    """Half of the gap between the two largest logits."""
    top = np.sort(outputs.logits, axis=1)
    return (top[:, -1] - top[:, -2]) / 2


def test_score_objects_settings_side_by_side_and_functions_are_scores_like_any_other(digits):
    ks = [KNN(k=k) for k in (1, 2, 3, 5, 10)]
    evaluation = evaluate(digits, scores=[*ks, "knn(k=20)", half_gap, "confidence_margin"])
    assert evaluation.scores == [
        *("knn(k=1)", "knn", "knn(k=3)", "knn(k=5)", "knn(k=10)", "knn(k=20)"),
        *("half_gap", "confidence_margin"),
    ]
    assert evaluation.row("half_gap", "all", 1.0)["aurc"] == evaluation.row("confidence_margin", "all", 1.0)["aurc"]
    assert len({evaluation.row(k.name, "all", 1.0)["aurc"] for k in ks}) == len(ks)


def test_given_confidences_are_evaluated_beside_the_others():
    outputs = mixed_outputs()
    margin = abstain.scores.confidence_margin(outputs.logits)
    given = Outputs(logits=outputs.logits, labels=outputs.labels, shift=outputs.shift, given={"vendor": margin})
    evaluation = evaluate(given, scores=["vendor", "confidence_margin"])
    assert evaluation.row("vendor", "all", 1.0)["aurc"] == evaluation.row("confidence_margin", "all", 1.0)["aurc"]
    alone = Outputs(given={"vendor": margin}, errors=outputs.errors, shift=outputs.shift)
    assert evaluate(alone).scores == ["vendor"]


def test_wrong_kinds_of_scores_are_refused():
    with pytest.raises(TypeError, match="`score` must be a name, a score or a function of outputs, got int"):
        evaluate(mixed_outputs(), scores=[3])
    with pytest.raises(ValueError, match=r"`option of knn` must be one of k, space, exclude_self, got 'q'"):
        evaluate(mixed_outputs(), scores=["knn(q=3)"])
    with pytest.raises(ValueError, match=r"name\(option=value\)"):
        evaluate(mixed_outputs(), scores=["knn(3)"])
    with pytest.raises(ValueError, match="two of the name 'half_gap'"):
        evaluate(mixed_outputs(), scores=[half_gap, Own("half_gap", len)])
    with pytest.raises(ValueError, match="`flat` must give a confidence for each of 900 rows"):
        evaluate(mixed_outputs(), scores=[Own("flat", lambda _: 1.0)])
    with pytest.raises(TypeError, match="`outputs` must be Outputs, got ndarray"):
        evaluate(np.ones((3, 2)))


def test_the_two_draws_to_fit_on(digits):
    for fitting, others in (("fifth", True), ("paper", True)):
        notes = evaluate(digits, scores=["knn"], fitting=fitting).notes
        assert any("in-distribution rows were drawn to fit scores on" in note for note in notes) == others
    with pytest.raises(ValueError, match="`fitting` must be outputs, 'fifth' or 'paper', got 'half'"):
        evaluate(digits, fitting="half")


class Counted(np.ndarray):
    """Logits that count the rows read from them; what was read is in memory and counts no more."""

    rows = 0
    is_whole = False

    def __getitem__(self, key):
        found = super().__getitem__(key)
        if self.is_whole and found.ndim == 2:
            Counted.rows += len(found)
        return found

    def __array_ufunc__(self, ufunc, method, *given, **named):
        Counted.rows += sum(len(one) for one in given if isinstance(one, Counted) and one.is_whole)
        plain = [one.view(np.ndarray) if isinstance(one, Counted) else one for one in given]
        return getattr(ufunc, method)(*plain, **named)


def counted(outputs):
    outputs.__dict__["logits"] = outputs.logits.view(Counted)
    outputs.logits.is_whole = True
    Counted.rows = 0
    return outputs


def test_the_logits_are_read_once_by_all_scores(monkeypatch):
    monkeypatch.setattr("abstain.outputs.taken.ALWAYS_COPIED", 0)
    monkeypatch.setattr("abstain.draws.LARGEST", 4 * 100)  # elements that the draw of rows to fit on looks at
    outputs = counted(mixed_outputs())
    evaluation = evaluate(outputs)
    assert len(evaluation.scores) > 10
    looked = 100 + 16  # and those that show whether the logits are log-probabilities
    assert len(evaluation.outputs) < Counted.rows <= len(outputs) + looked


def test_rows_taken_later_change_nothing(monkeypatch):
    copied = evaluate(mixed_outputs())
    monkeypatch.setattr("abstain.outputs.taken.ALWAYS_COPIED", 0)
    assert evaluate(mixed_outputs()).rows == copied.rows


def test_further_metrics_stand_beside_aurc_where_they_are_defined():
    outputs = mixed_outputs()
    evaluation = evaluate(outputs, scores=["max_softmax", "energy"], metrics="all")
    found = {(row["score"], row["mix"], row["metric"]): row for row in evaluation.further}
    kept = outputs.shift != "covariate"
    c, unknown = abstain.scores.energy(outputs.logits)[kept], outputs.labels[kept] < 0
    assert found["energy", "in+label", "ood_auroc"]["value"] == ood_auroc(c[~unknown], c[unknown])
    assert found["energy", "in+label", "augrc"]["value"] == augrc(c, outputs.errors[kept])
    assert found[None, "in", "brier_score"]["se"] > 0
    assert ("energy", "in", "ood_auroc") not in found  # no unknown class there
    assert (None, "all", "log_loss") not in found  # an unknown class has no probability
    json.dumps(evaluation.to_dict(), allow_nan=False)


def test_metrics_are_asked_for_by_name_and_parameter():
    outputs = mixed_outputs()
    evaluation = evaluate(outputs, scores=["energy"], metrics=["coverage_at_risk(risk=0.2)", "augrc"])
    row = next(row for row in evaluation.further if row["mix"] == "all" and "(" in row["metric"])
    assert row["value"] == coverage_at_risk(abstain.scores.energy(outputs.logits), outputs.errors, risk=0.2)
    assert evaluate(outputs, scores=["energy"]).further == []
    with pytest.raises(ValueError, match=r"`metric` must be a known metric, got 'augrcc'\. Did you mean augrc"):
        evaluate(outputs, metrics=["augrcc"])
    with pytest.raises(ValueError, match="`option of augrc` must be one of"):
        evaluate(outputs, metrics=["augrc(risk=1)"])


def test_further_metrics_read_rows_on_disk_block_by_block(monkeypatch):
    rng = np.random.default_rng(5)
    labels = rng.integers(4, size=300)
    logits = rng.normal(size=(300, 4)) + 2 * np.eye(4)[labels]
    outputs = Outputs(logits=logits, labels=labels, shift=np.where(np.arange(300) % 3, "none", "covariate"))
    whole = evaluate(outputs, scores=["energy"], metrics="all").further
    reads, look = [], taken.Taken.__getitem__

    def counted(self, rows):
        found = look(self, rows)
        reads.append(len(found))
        return found

    monkeypatch.setattr(taken, "ALWAYS_COPIED", 0)
    monkeypatch.setattr(blocks, "BLOCK_ELEMENTS", 40)
    monkeypatch.setattr(taken.Taken, "__getitem__", counted)
    assert evaluate(outputs, scores=["energy"], metrics="all").further == whole
    assert reads
    assert max(reads) <= 10


def test_further_metrics_count_the_rows_that_aurc_counts():
    outputs = mixed_outputs()
    z = outputs.logits.copy()
    z[:100] = np.nan
    broken = Outputs(logits=z, labels=outputs.labels, shift=outputs.shift, nonfinite="reject")
    evaluation = evaluate(broken, scores=["energy"], metrics="all")
    found = next(row for row in evaluation.further if row["metric"] == "aurc" and row["mix"] == "all")
    assert found["value"] == evaluation.row("energy", "all", 1.0)["aurc"]
    assert not any(row["metric"] == "brier_score" for row in evaluation.further)


def test_a_given_confidence_may_have_the_name_of_a_score():
    outputs = mixed_outputs()
    given = Outputs(logits=outputs.logits, labels=outputs.labels, given={"max_softmax": np.arange(900.0)})
    evaluation = evaluate(given)
    assert (evaluation.confidence["max_softmax"] == np.rint(evaluation.confidence["max_softmax"])).all()


def test_a_score_that_learns_gets_rows_of_every_kind_and_only_on_request(digits):
    few = Learned((MaxSoftmax(), Energy()))
    found = evaluate(digits, scores=["max_softmax", few])
    assert found.scores == ["max_softmax", "learned"]
    assert any(note.startswith("learned weighs ") for note in found.notes)
    paper = evaluate(digits, scores=["max_softmax", few], fitting="paper")
    assert paper.left_out == {
        "learned": "it learns from rows of every kind, and the draw of the paper is in-distribution"
    }
    assert "learned" not in evaluate(digits.select(np.arange(0, len(digits), 9))).scores


def test_one_score_is_called_one():
    evaluation = evaluate(Outputs(given={"a": [0.1, 0.2, 0.3]}, errors=[True, False, False]))
    assert repr(evaluation).startswith("<Evaluation of 1 score on 3 rows")
