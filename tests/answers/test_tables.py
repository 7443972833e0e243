"""Answer tables in every format, and as uqlm and lm-polygraph write them (see peers/README.md)."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from abstain import Outputs
from abstain.errors import InvalidInputError
from abstain.outputs.column_names import foreign_names, unused_words

PEERS = Path(__file__).parent / "peers"
ROWS = [
    {
        "id": "a",
        "group": "x",
        "answer": "Paris",
        "correct": True,
        "logprobs": [-0.5, -1.5],
        "samples": ["paris", "Rome"],
    },
    {"id": "b", "group": "x", "answer": "It's", "correct": False, "logprobs": [-0.25], "samples": ["it's", "It's."]},
    {
        "id": "c",
        "group": "y",
        "answer": "ok",
        "correct": True,
        "logprobs": [],
        "samples": ["no"],
        "confidence_judge": 0.5,
    },
]


def write_lines(file, rows):
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return file


def write_csv(file, rows, cell):
    names = list(dict.fromkeys(name for row in rows for name in row))
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerows([names, *([cell(row.get(name, "")) for name in names] for row in rows)])
    return file


def as_json(value):
    return json.dumps(value) if isinstance(value, list) else value


def written(kind, folder):
    if kind == "jsonl":
        return write_lines(folder / "t.jsonl", ROWS)
    if kind == "parquet":
        polars = pytest.importorskip("polars")
        polars.DataFrame(ROWS, infer_schema_length=None).write_parquet(folder / "t.parquet")
        return folder / "t.parquet"
    return write_csv(folder / "t.csv", ROWS, as_json if kind == "csv" else str)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "csv of pandas", "parquet"])
def test_every_format_is_the_same_table(kind, tmp_path):
    outputs = Outputs.load(written(kind, tmp_path))
    nan = np.nan
    assert outputs.errors.tolist() == [False, True, False]
    assert outputs.ids.tolist() == ["a", "b", "c"]
    assert outputs.domain.tolist() == ["x", "x", "y"]
    np.testing.assert_array_equal(outputs.confidence("mean_logprob"), [-1, -0.25, nan])
    np.testing.assert_array_equal(outputs.confidence("agreement"), [0.5, 1, 0])
    np.testing.assert_array_equal(outputs.confidence("confidence_judge"), [nan, nan, 0.5])


def test_losses_and_uncertainties_are_read(tmp_path):
    rows = [{"loss": 0.25, "uncertainty_a": 2, "samples": ["x", "x"]}, {"loss": 1, "uncertainty_a": 3, "samples": []}]
    outputs = Outputs.load(write_lines(tmp_path / "t.jsonl", rows))
    assert outputs.losses.tolist() == [0.25, 1]
    assert outputs.confidence("neg_a").tolist() == [-2, -3]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"samples": ["x"]', "must hold JSON lines, got .* in line 3"),
        ("[1, 2]", r"must hold one JSON object per line, got '\[1, 2\]' in line 3"),
        ('{"correct": 1, "correct": 0}', "must hold JSON lines, got the key 'correct' twice in line 3"),
        ('{"correct": 1, "samples": 3}', r"`samples` must be a list, got 3 in row 2 of .*t\.jsonl"),
        ('{"correct": 1, "logprobs": [0.5]}', r"`logprobs` must be numbers of at most 0, got 0\.5 in row 2 of"),
        ('{"correct": 1, "logprobs": [NaN]}', r"`logprobs` must be numbers of at most 0, got nan in row 2 of"),
        ('{"correct": 1, "answer": "x"}', r"`confidences\['agreement'\]` must not be NaN, got 1 of 2 rows"),
        ('{"correct": "perhaps", "answer": "x", "samples": ["x"]}', "must have truth values.* in row 2"),
    ],
)
def test_a_wrong_row_is_named(line, message, tmp_path):
    (tmp_path / "t.jsonl").write_text('{"answer": "x", "samples": ["x"], "correct": true}\n\n' + line)
    with pytest.raises(InvalidInputError, match=message):
        Outputs.load(tmp_path / "t.jsonl")


def test_a_row_without_any_signal_is_never_accepted(tmp_path):
    rows = [{"samples": ["a", "a"], "correct": 1}, {"samples": [], "correct": 1}]
    outputs = Outputs.load(write_lines(tmp_path / "t.jsonl", rows), nonfinite="reject")
    assert outputs.usable.tolist() == [True, False]
    assert outputs.errors.tolist() == [False, True]


def test_deep_and_empty_files_are_refused(tmp_path):
    (tmp_path / "deep.jsonl").write_text("[" * 100_000)
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InvalidInputError, match="must hold JSON lines, got"):
        Outputs.load(tmp_path / "deep.jsonl")
    with pytest.raises(InvalidInputError, match=r"must have a column confidence, or columns .* got none"):
        Outputs.load(tmp_path / "empty.jsonl")


def test_a_classifier_with_a_column_of_samples_stays_as_it_was(tmp_path):
    rows = [{"logit_a": 2.0, "logit_b": 0.0, "label": "a", "samples": 5}]
    assert Outputs.load(write_lines(tmp_path / "t.jsonl", rows)).confidences is None


def test_answers_are_used_columns():
    assert (
        unused_words(["id", "answer", "samples", "logprobs", "top_logprobs", "city"])
        == "Columns that are not used: city."
    )


@pytest.mark.parametrize("file", ["uqlm.jsonl", "uqlm.csv"])
def test_tables_of_uqlm_are_read_as_they_are(file):
    outputs = Outputs.load(PEERS / file)
    assert outputs.errors.tolist() == [False, True, False, True]
    given = {name for name in outputs.confidence_names if name.startswith("confidence_")}
    scores = (
        "min_probability",
        "sequence_probability",
        "probability_margin",
        "exact_match",
        "judge_1",
        "ensemble_score",
    )
    assert given == {f"confidence_{name}" for name in scores}
    for ours, theirs in (("mean_logprob", "sequence_probability"), ("min_logprob", "min_probability")):
        np.testing.assert_allclose(
            np.exp(outputs.confidence(ours)), outputs.confidence(f"confidence_{theirs}"), rtol=1e-8
        )
    assert outputs.confidence("first_token_margin").tolist() == [2, -0.5, 0.75, 0.125]
    assert outputs.confidence("agreement").tolist() == pytest.approx([2 / 3, 1 / 3, 1, 2 / 3])


def test_tables_of_lm_polygraph_are_read_as_they_are():
    outputs = Outputs.load(PEERS / "lm_polygraph.jsonl")
    np.testing.assert_allclose(outputs.confidence("neg_Perplexity"), outputs.confidence("mean_logprob"))
    np.testing.assert_allclose(outputs.confidence("neg_MaximumSequenceProbability"), outputs.confidence("sum_logprob"))
    assert not [name for name in outputs.confidence_names if "Accuracy" in name]  # it says how good the answer is
    assert outputs.confidence("agreement").tolist() == pytest.approx([2 / 3, 1 / 3, 1, 2 / 3])


@pytest.mark.parametrize(
    "name",
    [
        "MahalanobisDistanceSeq_decoder", "RelativeMahalanobisDistanceSeq_decoder", "RDESeq_decoder",
        "PPLMDSeq_decoder", "PointwiseMutualInformation", "MeanPointwiseMutualInformation",
        "MeanConditionalPointwiseMutualInformation",
        "BoostedProbSequence", "Verbalized1S", "Verbalized2S", "Linguistic1S", "LabelProb", "AttentionScore (layer=1)",
        "Focus (gamma=0.9)", "CSL", "EPTtu", "PETmi", "EPSrmi", "PESrmiabs",
    ],
)  # fmt: skip
def test_estimators_of_lm_polygraph_are_known(name):
    column = f"('sequence', '{name}')"
    assert foreign_names(["greedy_texts", column])[column] == f"uncertainty_{name}"


def test_other_tables_keep_columns_of_such_names_unused():
    assert unused_words(["confidence", "id", "min", "exact_match", "logprob"]).startswith(
        "Columns that are not used: min"
    )
