"""Further metrics beside AURC-α."""

import json

import numpy as np
import pytest

import abstain
from abstain import Outputs, evaluate
from abstain._kernels import blocks
from abstain.metrics import augrc, coverage_at_risk, ood_auroc
from abstain.outputs import rows as row_module


def test_further_metrics_stand_beside_aurc_where_they_are_defined(mixed_outputs):
    outputs = mixed_outputs()
    evaluation = evaluate(outputs, scores=["max_softmax", "energy"], metrics="all")
    result = {(row["score"], row["mix"], row["metric"]): row for row in evaluation.extra_metrics}
    kept = outputs.shift != "covariate"
    c, unknown = abstain.scores.energy(outputs.logits)[kept], outputs.labels[kept] < 0
    assert result["energy", "in+label", "ood_auroc"]["value"] == ood_auroc(c[~unknown], c[unknown])
    assert result["energy", "in+label", "augrc"]["value"] == augrc(c, outputs.errors[kept])
    assert result[None, "in", "brier_score"]["se"] > 0
    assert ("energy", "in", "ood_auroc") not in result  # no unknown class there
    assert (None, "all", "log_loss") not in result  # an unknown class has no probability
    json.dumps(evaluation.to_dict(), allow_nan=False)


def test_metrics_are_asked_for_by_name_and_parameter(mixed_outputs):
    outputs = mixed_outputs()
    evaluation = evaluate(outputs, scores=["energy"], metrics=["coverage_at_risk(risk=0.2)", "augrc"])
    row = next(row for row in evaluation.extra_metrics if row["mix"] == "all" and "(" in row["metric"])
    assert row["value"] == coverage_at_risk(abstain.scores.energy(outputs.logits), outputs.errors, risk=0.2)
    assert evaluate(outputs, scores=["energy"]).extra_metrics == []
    with pytest.raises(ValueError, match=r"`metric` must be a known metric, got 'augrcc'\. Did you mean augrc"):
        evaluate(outputs, metrics=["augrcc"])
    with pytest.raises(ValueError, match="`augrc` must come without options, got risk"):
        evaluate(outputs, metrics=["augrc(risk=1)"])


def test_further_metrics_read_rows_on_disk_block_by_block(monkeypatch):
    rng = np.random.default_rng(5)
    labels = rng.integers(4, size=300)
    logits = rng.normal(size=(300, 4)) + 2 * np.eye(4)[labels]
    outputs = Outputs(logits=logits, labels=labels, shift=np.where(np.arange(300) % 3, "none", "covariate"))
    whole = evaluate(outputs, scores=["energy"], metrics="all").extra_metrics
    reads, look = [], row_module.RowView.__getitem__

    def counted(self, rows):
        result = look(self, rows)
        reads.append(len(result))
        return result

    monkeypatch.setattr(row_module, "ALWAYS_COPIED", 0)
    monkeypatch.setattr(blocks, "BLOCK_ELEMENTS", 40)
    monkeypatch.setattr(row_module.RowView, "__getitem__", counted)
    assert evaluate(outputs, scores=["energy"], metrics="all").extra_metrics == whole
    assert reads
    assert max(reads) <= 10


def test_further_metrics_count_the_rows_that_aurc_counts(mixed_outputs):
    outputs = mixed_outputs()
    z = outputs.logits.copy()
    z[:100] = np.nan
    broken = Outputs(logits=z, labels=outputs.labels, shift=outputs.shift, nonfinite="reject")
    evaluation = evaluate(broken, scores=["energy"], metrics="all")
    result = next(row for row in evaluation.extra_metrics if row["metric"] == "aurc" and row["mix"] == "all")
    assert result["value"] == evaluation.row("energy", "all", 1.0).aurc
    assert not any(row["metric"] == "brier_score" for row in evaluation.extra_metrics)


def test_a_metric_that_these_rows_do_not_define_is_named(mixed_outputs):
    outputs = mixed_outputs()
    known = outputs[outputs.labels >= 0]
    evaluation = evaluate(known, scores=["energy"], metrics=["ood_auroc", "augrc"])
    assert "Left out: ood_auroc, not defined on these rows." in evaluation.notes
    with pytest.raises(ValueError, match="`risk` of coverage_at_risk must be between 0 and 1, got 2"):
        evaluate(known, scores=["energy"], metrics=["coverage_at_risk(risk=2)"])
