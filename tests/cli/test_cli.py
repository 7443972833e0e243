"""The command as a user meets it: real processes."""

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import abstain
from abstain import Outputs
from abstain.scores import SCORES


@pytest.fixture(scope="module")
def folder(digits, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "outputs"
    digits.save(path)
    return path


def test_scores_lists_the_registry(run):
    listed = run("scores").stdout
    for score in SCORES.values():
        assert score.name in listed
        assert score.symbol in listed
    assert [s["name"] for s in json.loads(run("scores", "--json").stdout)["scores"]] == list(SCORES)


def test_every_score_has_a_line_of_its_own_on_a_narrow_terminal(run):
    listed = run("scores", width=80).stdout
    assert all(f" {name} " in listed for name in SCORES)
    assert all(word in listed for word in ("symbol", "needs"))
    assert "reference" not in listed
    assert len(listed.splitlines()) < len(SCORES) + 12
    assert all(word in run("scores", width=100).stdout for word in ("reference", "2022"))


def test_one_score_is_told_with_its_options(run):
    message = run("scores", "knn").stdout
    for words in ("KNN", "features, fitting", "Sun et al., 2022", "k-th nearest", "k=2, space=features"):
        assert words in message
    assert run("scores", "energy").stdout.splitlines()[-1].split() == ["options", "none"]
    [message] = json.loads(run("scores", "ash(pruned=0.5)", "--json").stdout)["scores"]
    assert message["options"] == {"pruned": 0.5, "score": "energy"}


def test_an_unknown_score_is_answered_with_the_nearest(run):
    done = run("scores", "max_sofmax")
    assert done.returncode == 1
    assert done.stderr == "abstain: `name` must be a known score, got 'max_sofmax'. Did you mean max_softmax?\n"


def test_further_metrics_are_columns_beside_the_areas_or_a_table_below(run, folder):
    beside = run("evaluate", folder, "--score", "energy,max_softmax", "--metric", "augrc").stdout
    assert re.search(r"α=1 +augrc", beside)
    below = run("evaluate", folder, "--metric", "all").stdout  # too wide for one table
    parts = [[line.split()[0] for line in part.splitlines() if line.split()[:1] and line.split()[0] in SCORES]
             for part in below.split("symbol")[1:]]  # fmt: skip
    assert len(parts) > 3
    assert all(part == parts[0] for part in parts)
    assert "Higher is better for coverage_at_risk" in below
    assert "calibration_error of the softmax on all: 0." in below


def test_version_and_short_help(run):
    assert run("--version").stdout.strip() == abstain.__version__
    assert "evaluate" in run("-h").stdout


def test_evaluate_json_is_one_document_with_the_guaranteed_keys(run, folder, digits):
    done = run("evaluate", folder, "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert document["n"] == abstain.evaluate(digits).n < len(digits)
    assert document["verdict"]["baseline"] == "max_softmax"
    assert document["verdict"]["words"].startswith("Use ")
    assert {"score", "mix", "alpha", "aurc", "se", "low", "high", "n", "errors"} <= set(document["rows"][0])
    assert document["rows"] == abstain.evaluate(digits).rows


def test_evaluate_answers_in_its_first_line_and_fits_a_screen(run, folder):
    done = run("evaluate", folder, width=80)
    assert done.returncode == 0
    assert done.stdout.startswith("Use ")
    assert "ranks best" in done.stdout
    assert "max_softmax" in done.stdout
    assert "●" in done.stdout
    assert len(done.stdout.splitlines()) <= 41


def test_evaluate_shows_everything_on_request(run, folder):
    done = run("evaluate", folder, "--all", "--intervals")
    assert all(name in done.stdout for name, score in SCORES.items() if not score.on_request)
    for mix in ("in:", "in+cov:", "in+label:", "all:"):
        assert mix in done.stdout
    assert "–" in done.stdout
    assert "in+cov: " in run("evaluate", folder, "--mix", "in+cov").stdout


def test_logits_alone_show_what_can_be_had_and_what_the_rest_lacks(run, digits, tmp_path):
    np.savez(tmp_path / "logits.npz", logits=digits.logits, labels=digits.labels)
    shown = run("evaluate", tmp_path / "logits.npz", width=200).stdout
    assert "max_logit_pnorm" in shown
    assert "Left out: knn, nnguide, she" in shown
    assert "the outputs have no features and no head." in shown


def test_sensitivity_tells_the_range_and_draws_it(run, folder, tmp_path):
    done = run("sensitivity", folder, "--figure", tmp_path / "scale.png")
    assert done.returncode == 0
    assert "confidence_margin" in done.stdout
    assert (tmp_path / "scale.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads(run("sensitivity", folder, "--json").stdout)
    assert {row["score"] for row in document["rows"]} == {"max_softmax", "doctor", "neg_entropy"}


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_tables_fit_the_terminal(run, folder, width):
    done = run("evaluate", folder, width=width)
    *lines, command = done.stdout.splitlines()
    assert max(len(line) for line in lines) <= width
    assert command.startswith("Next: abstain calibrate ")  # whole, to be copied
    assert "…" not in done.stdout


def test_the_command_to_go_on_with_works_as_printed(run, tmp_path):
    rng = np.random.default_rng(0)
    confidence = rng.random(80)
    Outputs(confidences={"a": confidence}, errors=rng.random(80) > confidence).save(tmp_path / "few rows")
    command = run("evaluate", tmp_path / "few rows").stdout.splitlines()[-1]
    words = shlex.split(command.removeprefix("Next: abstain "))
    assert words[0] == "calibrate"
    assert run(*words[:-1], tmp_path / "s.abstain").returncode == 0


def test_what_is_proposed_holds_rows_back_and_explains_its_risk(run, folder):
    shown = " ".join(run("evaluate", folder, width=200).stdout.split())
    assert "--score best --risk" in shown
    assert (
        "--score best chooses one on a fifth of the rows; --score rmds_norm takes the recommended one, on other rows."
        in shown
    )
    single = " ".join(run("evaluate", folder, "--score", "energy", width=200).stdout.split())
    assert "--score energy --risk" in single
    for words in (shown, single):
        assert re.search(r"--risk 0\.\d+ is an example; choose it without these rows \(\d+\.\d% errors\)", words)


def test_nobody_speaks_of_shift_where_the_data_do_not(run, tmp_path):
    lines = [f"0.{k},{int(k % 7 > 0)}" for k in range(100, 400)]
    (tmp_path / "vendor.csv").write_text("\n".join(["confidence,correct", *lines]))
    shown = run("evaluate", tmp_path / "vendor.csv").stdout
    assert "on these rows (300 rows, 14.3% errors)" in " ".join(shown.split())
    assert "in-distribution" not in shown
    assert "in: " not in shown


def test_intervals_are_whole_at_80_columns(run, folder):
    shown = run("evaluate", folder, "--intervals", width=80).stdout
    assert "…" not in shown
    assert max(len(line) for line in shown.splitlines()[:-1]) <= 80


@pytest.mark.parametrize("option", ["--delta", "--level"])
def test_a_probability_of_being_right_is_not_taken_for_one_of_being_wrong(run, tmp_path, option):
    Outputs(confidences={"a": np.linspace(0, 1, 400)}, errors=np.zeros(400, dtype=bool)).save(tmp_path / "run")
    done = run(
        "calibrate",
        tmp_path / "run",
        "--risk",
        "0.05",
        "-o",
        tmp_path / "s.abstain",
        *(["--delta", "0.95"] if option == "--delta" else []),
    )
    if option == "--level":
        done = run("certify", tmp_path / "s.abstain", "--level", "0.95")
    name = option.strip("-")
    assert done.returncode == 1
    assert (
        f"`{name}` must be at most 0.5, since it is the probability of being wrong, got 0.95. Did you mean 0.05?"
        in done.stderr
    )


def test_one_score_and_alpha_can_be_asked_for(run, folder):
    document = json.loads(run("evaluate", folder, "--score", "energy", "--alpha", "0.2", "--json").stdout)
    assert {(row["score"], row["alpha"]) for row in document["rows"]} == {("energy", 0.2)}


def test_the_figure_is_written(run, folder, tmp_path):
    done = run("evaluate", folder, "--figure", tmp_path / "rc.png", "--json")
    assert done.returncode == 0
    assert (tmp_path / "rc.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "no-such-folder"], "must exist"),
        (["evaluate", "{folder}", "--score", "max_sofmax"], "Did you mean max_softmax?"),
        (["evaluate", "{folder}", "--alpha", "2"], "`alpha` must be above 0 and at most 1, got 2.0."),
        (["evaluate", "{folder}", "--level", "95"], "`level` must be between 0 and 1"),
    ],
)
def test_errors_are_one_line_on_standard_error(run, folder, arguments, message):
    done = run(*(a.format(folder=folder) for a in arguments), "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith("abstain: ")
    assert message in done.stderr


def test_wrong_usage_exits_with_2(run):
    assert run("evaluate").returncode == 2
    assert run("evaluate", "x", "--no-such-option").returncode == 2
    other = run("evaluate", "x", "--nonfinite", "drop")
    assert other.returncode == 2
    assert "'drop' is not one of 'error', 'reject'" in other.stderr


def test_nan_rows_are_refused_unless_told_otherwise(run, tmp_path):
    z = np.random.default_rng(0).normal(size=(50, 3))
    z[7, 1] = np.nan
    np.savez(tmp_path / "run.npz", logits=z, labels=np.zeros(50, dtype=int))
    refused = run("evaluate", tmp_path / "run.npz")
    assert refused.returncode == 1
    assert "first in row 7" in refused.stderr
    assert run("evaluate", tmp_path / "run.npz", "--nonfinite", "reject").returncode == 0


def test_demo_prints_the_table_and_writes_outputs_and_figure(run, tmp_path):
    done = run("demo", "--folder", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert "AURC-α × 100" in done.stdout
    assert "ranks best" in done.stdout
    assert (tmp_path / "demo" / "risk-coverage.png").read_bytes().startswith(b"\x89PNG")
    assert len(Outputs.load(tmp_path / "demo" / "outputs")) == 4684
    again = run("demo", "--folder", tmp_path / "demo")
    assert again.stdout == done.stdout


def test_a_mistake_of_our_own_is_one_line_and_a_traceback_on_request(monkeypatch, capsys):
    from abstain.cli import app

    monkeypatch.setattr(app, "app", lambda: {}.missing)
    with pytest.raises(SystemExit) as info:
        app.main()
    assert info.value.code == 1
    assert "This is a bug in abstain (AttributeError" in capsys.readouterr().err
    monkeypatch.setenv("ABSTAIN_DEBUG", "1")
    with pytest.raises(AttributeError, match="missing"):
        app.main()


def test_a_reader_that_has_seen_enough_is_no_error():
    command = f"{sys.executable} -c 'from abstain.cli import main; main()' scores --json | head -c 10"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_a_warning_is_one_line_on_standard_error(run, tmp_path):
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    np.savez(tmp_path / "run.npz", logits=p, labels=np.zeros(50, dtype=int))
    done = run("evaluate", tmp_path / "run.npz", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"]
    assert done.stderr.startswith("abstain: `logits` look like probabilities")
    assert len(done.stderr.strip().splitlines()) == 1
