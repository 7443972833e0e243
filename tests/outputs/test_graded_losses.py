"""Graded losses: from Python, tables and files."""

import numpy as np
import pytest

from abstain import Outputs
from abstain._extras import require
from abstain.outputs.hashes import outputs_digest

RNG = np.random.default_rng(0)
U = RNG.random(200)
LOSSES = RNG.random(200)
GRADED = Outputs(confidences={"judge": 1 - U}, losses=LOSSES, ids=np.arange(200))


def write(file, lines):
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_they_survive_select_concat_and_files(tmp_path):
    GRADED.save(tmp_path / "run")
    np.savez(
        tmp_path / "a.npz",
        logits=GRADED.logits,
        confidences=GRADED.confidences,
        confidence_names=["judge"],
        graded=LOSSES,
    )
    parts = [GRADED.select(np.arange(50)), GRADED.select(np.arange(50, 200))]
    for again in (Outputs.load(tmp_path / "run"), Outputs.concat(parts), Outputs.load(tmp_path / "a.npz")):
        np.testing.assert_array_equal(again.losses, LOSSES)
        assert again.is_graded
        assert again.is_labelled
    np.testing.assert_array_equal(GRADED.select([3, 1]).losses, LOSSES[[3, 1]])
    assert outputs_digest(Outputs.load(tmp_path / "run")) == outputs_digest(GRADED)
    assert "judge, losses;" in repr(GRADED)


def test_the_digest_and_the_draws_depend_on_the_losses():
    other = Outputs(confidences={"judge": 1 - U}, losses=LOSSES[::-1], ids=np.arange(200))
    assert outputs_digest(other) != outputs_digest(GRADED)
    assert other.generator("a", 0).random() != GRADED.generator("a", 0).random()


def test_losses_are_errors_where_only_right_and_wrong_are_known():
    outputs = Outputs(logits=[[2.0, 0.0], [0.5, 1.0], [0.0, 3.0]], labels=[0, 0, -1])
    np.testing.assert_array_equal(outputs.losses, [0.0, 1.0, 1.0])
    assert outputs.losses.dtype == np.float64
    assert not outputs.is_graded


def test_graded_losses_are_not_right_or_wrong():
    with pytest.raises(ValueError, match=r"got graded losses[.] Choose a limit; then give a column error"):
        _ = GRADED.errors


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_column_of_a_table(tmp_path, suffix):
    file = write(tmp_path / "t.csv", ["confidence,Loss", "0.9,0", "0.5,0.25", "0.1,1"])
    if suffix == ".parquet":
        polars = require("polars", extra="scale", feature="this test")
        polars.read_csv(file).write_parquet(file.with_suffix(suffix))
    np.testing.assert_array_equal(Outputs.load(file.with_suffix(suffix)).losses, [0, 0.25, 1])


def test_beside_logits_labels_come_first(tmp_path):
    alone = write(tmp_path / "a.csv", ["logit_0,logit_1,loss", "2,0,0.5", "0,1,0"])
    np.testing.assert_array_equal(Outputs.load(alone).losses, [0.5, 0])
    both = write(tmp_path / "b.csv", ["logit_0,logit_1,label,loss", "2,0,1,7.3", "0,1,1,0"])  # of training
    np.testing.assert_array_equal(Outputs.load(both).losses, [1, 0])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_loss_that_is_not_finite_is_refused_unless_its_row_is_never_accepted(bad):
    losses, missing = np.r_[0.2, bad, 0.4], np.r_[0, np.nan, 2]
    for nonfinite in ("error", "reject"):  # the row could be accepted, and nothing would be known of it
        with pytest.raises(ValueError, match=r"`losses` must be finite, got \S+ in 1 of 3 rows, first in row 1"):
            Outputs(confidences={"c": np.arange(3)}, losses=losses, nonfinite=nonfinite)
    outputs = Outputs(confidences={"c": missing}, losses=losses, nonfinite="reject")
    np.testing.assert_array_equal(outputs.losses, [0.2, 1, 0.4])
    np.testing.assert_array_equal(outputs.usable, [True, False, True])


@pytest.mark.parametrize("nonfinite", ["error", "reject"])
def test_an_empty_cell_is_not_finite(tmp_path, nonfinite):
    file = write(tmp_path / "t.csv", ["confidence,loss", "0.9,0", "0.5,"])
    with pytest.raises(ValueError, match="must be finite, got nan in 1 of 2 rows"):
        Outputs.load(file, nonfinite=nonfinite)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"losses": [0.0, 1.5]}, r"must be from 0 to 1, got 1.5 in row 1. Divide losses"),
        ({"losses": [-0.1, 1]}, r"must be from 0 to 1, got -0.1 in row 0"),
        ({"losses": [0.1]}, r"must be 2 numbers from 0 to 1, got float64 of shape \(1,\)"),
        ({"losses": ["a", "b"]}, "must be 2 numbers from 0 to 1, got <U1"),
        ({"losses": [0.1, 0.2], "errors": [0, 1]}, "must be left out where there are errors, got both"),
    ],
)
def test_bad_losses(arguments, message):
    with pytest.raises(ValueError, match=f"`losses` {message}"):
        Outputs(confidences={"c": [0.1, 0.2]}, **arguments)


def test_labels_or_losses():
    with pytest.raises(ValueError, match="`losses` must be left out where there are labels, got both"):
        Outputs(logits=[[2.0, 0.0]], labels=[0], losses=[0.5])


def test_a_table_says_one_kind_of_outcome(tmp_path):
    file = write(tmp_path / "t.csv", ["confidence,loss,correct", "0.9,0,1"])
    with pytest.raises(ValueError, match="must have a column correct or a column loss, got both"):
        Outputs.load(file)
