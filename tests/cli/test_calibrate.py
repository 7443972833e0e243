"""Calibrate and select as a user meets them."""

import csv
import json

import numpy as np
import onnx
import onnxruntime
import polars
import pytest

from abstain import Outputs, Selector


def make(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    return Outputs(
        logits=rng.normal(size=(n, 3)) + 3 * np.eye(3)[labels], labels=labels, ids=[f"{seed}-{i}" for i in range(n)]
    )


def test_from_outputs_to_decisions(run, tmp_path):
    make(3000, 0).save(tmp_path / "cal")
    new = make(500, 1)
    new.save(tmp_path / "new")
    done = run(
        "calibrate", tmp_path / "cal", "--risk", "0.02", "--delta", "0.1", "-o", tmp_path / "s.abstain", width=200
    )
    assert done.returncode == 0, done.stderr
    assert "at most 0.02, with probability at least 0.9" in done.stdout
    selector = Selector.load(tmp_path / "s.abstain")
    for name in ("d.csv", "d.parquet"):
        done = run("select", tmp_path / "s.abstain", tmp_path / "new", "-o", tmp_path / name, "--json")
        assert json.loads(done.stdout)["accepted"] == selector.accepts(new).sum()
    frame = polars.read_parquet(tmp_path / "d.parquet")
    assert frame["id"].to_list() == new.ids.tolist()
    np.testing.assert_array_equal(frame["accepted"].to_numpy(), selector.accepts(new))
    np.testing.assert_array_equal(frame["confidence"].to_numpy(), selector.confidence(new))
    with open(tmp_path / "d.csv") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["confidence"]) for row in rows] == selector.confidence(new).tolist()


def test_costs_from_a_table(run, tmp_path):
    make(3000, 0).save(tmp_path / "cal")
    (tmp_path / "costs.csv").write_text("0,1,9\n1,0,9\n2,2,0\n")
    where = (tmp_path / "cal", "-o", tmp_path / "s.abstain", "--costs", tmp_path / "costs.csv")
    done = run("calibrate", *where, "--cost", "0.3,0.3,0.9", "--method", "chow", width=300)
    assert done.returncode == 0, done.stderr
    assert "Guarantee by chow: the expected cost per row is at most" in done.stdout
    new = make(500, 1)
    selector = Selector.load(tmp_path / "s.abstain")
    assert (selector.predictions(new) != new.predictions).any()
    for wrong, message in (("0.3,x", "`--cost` must be a number"), ("0.3,0.2", "`rejection` must be one number or 3")):
        done = run("calibrate", *where, "--cost", wrong, width=300)
        assert done.returncode == 1
        assert message in done.stderr


def test_a_classifier_good_enough_for_all_is_told_as_json(run, tmp_path):
    make(3000, 0).save(tmp_path / "cal")
    done = run("calibrate", tmp_path / "cal", "-o", tmp_path / "s.abstain", "--risk", "0.5", "--json")
    assert json.loads(done.stdout)["threshold"]["value"] == "-inf"
    assert run("select", tmp_path / "s.abstain", tmp_path / "cal", "-o", tmp_path / "d.csv").returncode == 0


def test_attach_writes_a_graph_that_decides(run, tmp_path):
    rng = np.random.default_rng(0)
    centres = 2 * np.eye(3, dtype=np.float32)
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gemm", ["x", "w"], ["z"])],
        "net",
        [value("x", onnx.TensorProto.FLOAT, ["n", 3])],
        [value("z", onnx.TensorProto.FLOAT, ["n", 3])],
        [onnx.numpy_helper.from_array(centres, "w")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "net.onnx")
    labels = rng.integers(3, size=2000)
    x = (rng.normal(size=(2000, 3)) + centres[labels]).astype(np.float32)
    outputs = Outputs(logits=x @ centres, labels=labels)
    outputs.save(tmp_path / "cal")
    run("calibrate", tmp_path / "cal", "--risk", "0.1", "-o", tmp_path / "s.abstain")
    done = run("attach", tmp_path / "net.onnx", tmp_path / "s.abstain", "-o", tmp_path / "out.onnx", "--json")
    assert json.loads(done.stdout)["outputs"] == ["prediction", "confidence", "accepted"]
    session = onnxruntime.InferenceSession(tmp_path / "out.onnx", providers=["CPUExecutionProvider"])
    accepted = session.run(["accepted"], {"x": x})[0]
    np.testing.assert_array_equal(accepted, Selector.load(tmp_path / "s.abstain").accepts(outputs))
    (tmp_path / "text.onnx").write_text("no graph")
    done = run("attach", tmp_path / "text.onnx", tmp_path / "s.abstain", "-o", tmp_path / "y.onnx", width=300)
    assert done.returncode == 1
    assert "must be an ONNX model" in done.stderr
    assert not (tmp_path / "y.onnx").exists()


def test_an_unreachable_risk_is_one_line(run, tmp_path):
    make(60, 0).save(tmp_path / "cal")
    done = run("calibrate", tmp_path / "cal", "--risk", "0.001", "-o", tmp_path / "s.abstain")
    assert done.returncode == 1
    assert "No threshold certifies risk <= 0.001" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "s.abstain").exists()


def test_a_refusal_as_json_has_a_table_of_what_is_achievable(run, tmp_path):
    make(600, 0).save(tmp_path / "cal")
    done = run("calibrate", tmp_path / "cal", "--risk", "0.001", "-o", tmp_path / "s.abstain", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["error"] in done.stderr
    row = document["achievable"][0]
    assert set(row) == {"risk", "delta", "coverage", "group"}
    asked = ["--risk", row["risk"], "--delta", row["delta"]]
    assert not run("calibrate", tmp_path / "cal", *asked, "-o", tmp_path / "s.abstain").returncode


def test_a_wrong_file_is_one_line(run, tmp_path):
    make(10, 0).save(tmp_path / "run")
    (tmp_path / "s.abstain").write_bytes(b"nonsense")
    done = run("select", tmp_path / "s.abstain", tmp_path / "run", "-o", tmp_path / "d.csv")
    assert done.returncode == 1
    assert "must be a selector" in done.stderr


def test_the_score_that_nobody_named_is_told_and_the_next_command_is_for_new_rows(run, tmp_path):
    make(500, 0).save(tmp_path / "my run")
    done = run("calibrate", tmp_path / "my run", "--coverage", "0.5", "-o", tmp_path / "s.abstain")
    assert "Score: confidence_margin, the default. --score best chooses one on a fifth of the rows" in done.stdout
    assert f"abstain select {tmp_path / 's.abstain'} NEW -o decisions.csv" in done.stdout
    options = ("--score", "energy", "--coverage", "0.5", "-o", tmp_path / "s.abstain")
    assert "Score:" not in run("calibrate", tmp_path / "my run", *options).stdout


def test_a_table_without_labels_or_without_classes_is_told_which_columns_help(run, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("confidence,prediction\n0.5,cat\n0.7,dog\n")
    done = run("calibrate", table, "--risk", "0.1", "-o", tmp_path / "s.abstain")
    assert "A table has them in a column `label`, or else in `correct`, `error` or `loss`" in done.stderr
    table.write_text("confidence,prediction,correct\n0.5,cat,1\n0.7,dog,0\n")
    done = run("calibrate", table, "--risk", "0.1", "--per", "class", "-o", tmp_path / "s.abstain")
    assert "Of a table with a column prediction, use --per prediction." in done.stderr


def test_what_costs_add_up_to_is_not_called_errors(run, tmp_path):
    make(900, 0).save(tmp_path / "cal")
    done = run("calibrate", tmp_path / "cal", "--cost", "0.2", "-o", tmp_path / "s.abstain")
    assert "which cost " in done.stdout
    assert "of them wrong" not in done.stdout


def test_a_risk_above_the_error_rate_says_that_nothing_is_rejected_and_why(run, tmp_path):
    make(900, 0).save(tmp_path / "cal")
    done = run("calibrate", tmp_path / "cal", "--risk", "0.5", "-o", tmp_path / "s.abstain")
    assert "Accept every finite row: nothing needs to be rejected, since the target holds for all rows" in done.stdout
    assert "inf" not in done.stdout


def test_a_coverage_reports_errors_among_the_accepted_and_ties(run, tmp_path):
    lines = [f"{0.5 if k < 400 else 0.9},{int(k % 10 > 0)}" for k in range(1000)]
    (tmp_path / "t.csv").write_text("\n".join(["confidence,correct", *lines]))
    done = run("calibrate", tmp_path / "t.csv", "--coverage", "0.5", "-o", tmp_path / "s.abstain")
    assert "600 of 1,000 calibration rows (60.0%) accepted, 60 of them wrong (10.00%)" in done.stdout
    assert "are accepted, because confidences tie" in done.stdout


@pytest.mark.parametrize("column", ["correct", "Loss", "id", "confidence", "confidence_b"])
def test_groups_by_the_outcome_are_refused(run, tmp_path, column):
    rng = np.random.default_rng(0)
    columns = {"correct": rng.integers(2, size=200), "Loss": rng.integers(2, size=200), "id": np.arange(200)}
    columns |= {"confidence": rng.random(200).round(1), "confidence_b": rng.random(200).round(1)}
    polars.DataFrame(columns).write_csv(tmp_path / "cal.csv")
    done = run("calibrate", tmp_path / "cal.csv", "--risk", "0.3", "--per", column, "-o", tmp_path / "s.abstain")
    assert done.returncode
    assert "`--per` must be a column known before the answer is checked" in done.stderr
    assert done.stderr.count("Error") <= 1
    assert not (tmp_path / "s.abstain").exists()


def test_costs_go_by_the_names_of_classes_and_their_order_is_said(run, tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=2000)
    names = ("cat", "dog", "eel")
    Outputs(logits=rng.normal(size=(2000, 3)) + 2 * np.eye(3)[labels], labels=labels, class_names=names).save(
        tmp_path / "cal"
    )
    tables = {
        "plain": "0,1,9\n1,0,9\n2,2,0\n",
        "named": ",cat,dog,eel\ncat,0,1,9\ndog,1,0,9\neel,2,2,0\n",
        "other": "predicted,eel,cat,dog\ndog,9,1,0\neel,0,2,2\ncat,9,0,1\n",
        "wrong": ",cat,dog,fox\ncat,0,1,9\ndog,1,0,9\neel,2,2,0\n",
    }
    result = {}
    for name, content in tables.items():
        (tmp_path / f"{name}.csv").write_text(content)
        where = (tmp_path / "cal", "-o", tmp_path / "s.abstain", "--costs", tmp_path / f"{name}.csv")
        done = run("calibrate", *where, "--cost", "0.3", "--method", "chow", width=300)
        if name == "wrong":
            assert "must have each class once above its columns, cat, dog, eel, got cat, dog, fox." in done.stderr
        else:
            assert "column k where class k is true; in order: cat, dog, eel." in done.stdout, done.stderr
            result[name] = Selector.load(tmp_path / "s.abstain").threshold
    assert result["plain"] == result["named"] == result["other"]
