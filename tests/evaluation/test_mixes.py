"""Mixes of shifts that the rows allow."""

from abstain import Outputs, evaluate


def test_mixes_that_are_not_there_are_left_out_and_no_rows_come_twice(mixed_outputs):
    outputs = mixed_outputs()
    assert evaluate(outputs).mixes == ["in", "in+cov", "in+label", "all"]
    assert evaluate(outputs.select(outputs.shift == "none")).mixes == ["in"]
    assert evaluate(outputs.select(outputs.shift != "label")).mixes == ["in", "in+cov"]
    assert evaluate(outputs.select(outputs.shift == "covariate")).mixes == ["all"]


def test_a_mix_of_one_sample_is_left_out_with_a_note():
    outputs = Outputs(
        logits=[[1.0, 0.0], [0.0, 1.0], [1.0, 0.5]], labels=[0, 1, 1], shift=["none", "covariate", "covariate"]
    )
    evaluation = evaluate(outputs)
    assert evaluation.mixes == ["in+cov"]
    assert any("Mix in is left out" in note for note in evaluation.notes)
