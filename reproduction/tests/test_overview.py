from dataclasses import replace

import numpy as np
import pytest

from abstain import Outputs
from abstain_reproduction import overview
from abstain_reproduction.comparison.score_findings import joint_findings, models_experiment, score_findings
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.page import write_findings
from abstain_reproduction.paper.score_claims import CLAIMED


def made(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=200)
    features = rng.normal(size=(200, 3)) + 2 * np.eye(3)[labels]
    return Outputs(logits=features, labels=labels, features=features, weight=np.eye(3))


@pytest.fixture(scope="module")
def findings():
    return score_findings("A model: one", made(0), seed=0)


@pytest.fixture
def registered(monkeypatch):
    """One experiment of two models, with what it says of itself."""
    experiment = Experiment("pair", "A model", lambda _: None, about="Two models were compared.")
    other = Experiment("other", "Another", lambda _: None, about="It was not run.")
    monkeypatch.setattr(overview, "EXPERIMENTS", {"pair": experiment, "other": other})


@pytest.mark.usefixtures("registered")
def test_the_page_has_the_gain_of_every_model_its_tables_and_small_figures(tmp_path, findings):
    pytest.importorskip("PIL")
    both = joint_findings({"one": findings, "two": replace(findings, words="A model: two")})
    write_findings(both, "A model", tmp_path / "runs" / "pair")
    (tmp_path / "runs" / "pair" / "left-over.png").touch()  # of an earlier run
    (tmp_path / "docs").mkdir()
    overview.write_overview(tmp_path / "runs", tmp_path / "docs")
    page = (tmp_path / "docs" / "experiments.md").read_text()
    assert "| pair one | in |" in page
    assert "| pair two | in |" in page
    assert "Two models were compared." in page
    assert page.count("**A model: one, α = 1, 5 draws**") == 2
    scores = {row["score"] for row in findings.numbers["draws"] if "|seen" not in row["score"]}
    assert f"Scores compared: {len(scores)}." in page
    assert "It was not run.\n\nNot run for this page: `scripts/reproduce other`." in page
    for model in ("one", "two"):
        figure = f"experiments/pair-risk-coverage-{model}.png"
        assert figure in page
        assert "left-over" not in page
        assert (tmp_path / "docs" / figure).stat().st_size < 200_000


@pytest.mark.usefixtures("registered")
def test_the_page_on_claims_is_new_but_for_what_somebody_wrote_before_the_evidence(tmp_path, findings):
    pytest.importorskip("PIL")
    write_findings(findings, "A model", tmp_path / "runs" / "pair")
    page = tmp_path / "claims.md"
    overview.write_overview(tmp_path / "runs", tmp_path)
    first = page.read_text()
    verdicts, evidence = first.split("## Evidence")
    written = "## How to read it\n\nWritten by hand.\n\n- Twice.\n\n"
    page.write_text(f"# A title\n\nOld counts.\n\n{written}## Evidence\n\nOld evidence.\n")
    overview.write_overview(tmp_path / "runs", tmp_path)
    assert page.read_text() == f"{verdicts}{written}## Evidence{evidence}"
    page.write_text(first)
    overview.write_overview(tmp_path / "runs", tmp_path)
    assert page.read_text() == first
    noted = first.replace("| claim | verdict |", "What is older than the code.\n\n| claim | verdict |", 1)
    page.write_text(noted)
    overview.write_overview(tmp_path / "runs", tmp_path)
    assert page.read_text() == noted


def test_verdicts_are_of_all_draws(findings):
    on_scores = [verdict for verdict in findings.verdicts if verdict.claim in CLAIMED]
    assert on_scores
    assert all("over 5 draws of rows to fit on" in verdict.evidence for verdict in on_scores)
    assert all("5 fitting draws" in v.evidence for v in findings.verdicts if v.claim == "detector-separates-less")


def test_the_findings_of_one_model_are_left_as_they_are(findings):
    assert joint_findings({"one": findings}) is findings


def test_one_model_or_all_of_them_run(tmp_path):
    asked = []

    def make(folder, seed, progress):  # noqa: ARG001
        asked.append(folder.name)
        return made(len(asked))

    run = models_experiment("Models", {"a": make, "b": make})
    run(Setting(folder=tmp_path, model="b"))
    assert asked == ["outputs-b"]
    result = run(Setting(folder=tmp_path))
    assert asked[1:] == ["outputs-a", "outputs-b"]
    assert list(result.numbers) == ["a", "b"]
    assert result.evaluation is None
