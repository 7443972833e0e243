"""`abstain cascade` and the commands that take its file, in processes of their own."""

import csv
import json

import numpy as np
import pytest
from scipy.special import expit

from abstain import Cascade, Outputs
from abstain.decision_log import read_log

FOREIGN = "got another kind of file (cascade)"


def save_pair(folder, name, seed, n=2500, steep=1.0):
    """A small and a large model on the same rows, whose errors depend on each other."""
    rng = np.random.default_rng(seed)
    hardness, common = rng.normal(size=n), rng.random(n)
    ids = np.array([f"{name}{row}" for row in range(n)])
    for model, ease in (("small", 2.0), ("large", 3.5)):
        confidence = ease - 1.5 * hardness + rng.normal(size=n)
        errors = common < steep * expit(-1.4 * confidence)
        Outputs(confidences={"own": confidence}, errors=errors, ids=ids).save(folder / f"{name}-{model}")


@pytest.fixture(scope="module")
def path(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cascade")
    for seed, name in enumerate(("cal", "new")):
        save_pair(folder, name, seed)
    save_pair(folder, "bad", 2, steep=3.0)
    done = make(run, folder, "--json")
    assert done.returncode == 0, done.stderr
    (folder / "made.json").write_text(done.stdout)
    return folder


def make(run, folder, *more):
    pair = (folder / "cal-small", folder / "cal-large")
    costs = ("--costs", "1,20", "--human-cost", "200", "--names", "small,large")
    return run("cascade", *pair, "--risk", "0.05", *costs, "-o", folder / "c.abstain", *more)


def both(folder, name):
    return folder / f"{name}-small", folder / f"{name}-large"


def on_both(folder, name):
    return "--on", folder / f"{name}-small", "--on", folder / f"{name}-large"


def test_it_prints_the_guarantee_and_what_each_way_costs(run, path):
    done = make(run, path)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Each row is answered by small if its own > ")
    assert "on the answers of all stages together: the share of errors among accepted rows is at most 0.05" in lines[0]
    assert [line.split(":")[0] for line in lines[2:6]] == [
        "- cascade", "- small alone", "- large alone", "- a person alone",
    ]  # fmt: skip
    assert lines[-1].startswith("Next: abstain select ")
    document = json.loads((path / "made.json").read_text())
    assert document["alternatives"][0]["cost"] < min(each["cost"] for each in document["alternatives"][1:])


def test_decisions_name_who_answers(run, path):
    done = run("select", path / "c.abstain", *both(path, "new"), "-o", path / "d.csv")
    assert done.returncode == 0, done.stderr
    assert "Answered by: small " in done.stdout
    with (path / "d.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["answered_by"] for row in rows} == {"small", "large", "person"}
    assert all((row["answered_by"] == "person") == (row["accepted"] == "False") for row in rows)
    assert list(rows[0])[:3] == ["id", "stage", "answered_by"]


def test_it_is_certified_on_fresh_rows_of_every_model(run, path):
    done = run("certify", path / "c.abstain", *on_both(path, "new"), "-o", path / "cert.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert run("certify", "--check", path / "cert.json").returncode == 0
    done = run("certify", path / "c.abstain", *on_both(path, "bad"), "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (3, "refuted")


def test_it_is_monitored_by_its_decisions(run, path):
    for name, code in (("new", 0), ("bad", 3)):
        run("select", path / "c.abstain", *both(path, name), "-o", path / f"{name}.csv")
        done = run("monitor", path / f"{name}.csv", "--selector", path / "c.abstain")
        assert done.returncode == code, done.stdout
        assert done.stderr == ""


def test_stages_are_monitored_where_each_has_a_guarantee(run, path):
    made = make(run, path, "--stage-risk", "0.08", "-o", path / "per-stage.abstain")
    assert made.returncode == 0, made.stderr
    for name, code in (("new", 0), ("bad", 3)):
        run("select", path / "per-stage.abstain", *both(path, name), "-o", path / f"{name}.csv")
        done = run("monitor", path / f"{name}.csv", "--selector", path / "per-stage.abstain", "--json")
        assert done.returncode == code, done.stdout + done.stderr
        watched = json.loads(done.stdout)
        assert (watched["risk"]["guaranteed"], watched["groups"]["large"]["risk"]["guaranteed"]) == (0.05, 0.08)
        assert watched["groups"]["large"]["risk"]["n"] > 100
        assert watched["groups"]["large"]["risk"]["alarm"] == (code == 3)


def test_decisions_are_logged_with_the_threshold_of_each_row(run, path):
    log = path / "d.jsonl"
    done = run("select", path / "c.abstain", *both(path, "new"), "-o", path / "logged.csv", "--log", log)
    assert done.returncode == 0, done.stderr
    table, cascade = read_log(log), Cascade.load(path / "c.abstain")
    assert set(table["selector"]) == {cascade.digest}
    for confidence, threshold, accepted in zip(table["confidence"], table["threshold"], table["accepted"], strict=True):
        assert (confidence > threshold) == accepted
    shown = [run("monitor", rows, "--selector", path / "c.abstain", "--json") for rows in (log, path / "logged.csv")]
    assert shown[0].stdout == shown[1].stdout
    assert shown[0].returncode == 0


def test_a_new_threshold_is_certified_after_an_alarm(run, path):
    run("select", path / "c.abstain", *both(path, "bad"), "--audit", "1", "-o", path / "audited.csv")
    state = path / "again.json"
    done = run(
        *("recertify", path / "c.abstain", path / "audited.csv", "--audited", "--state", state),
        *("-o", path / "d.abstain"),
    )
    assert done.returncode == 0, done.stderr
    assert "Certified after" in done.stdout
    old, new = Cascade.load(path / "c.abstain"), Cascade.load(path / "d.abstain")
    assert new.selector.threshold.value > old.selector.threshold.value
    assert new.routing.thresholds == old.routing.thresholds


def test_a_report_is_about_all_stages(run, path):
    done = run("report", *both(path, "new"), "--selector", path / "c.abstain", "-o", path / "page.html")
    assert done.returncode == 0, done.stderr
    page = (path / "page.html").read_text()
    assert "cascade" in page
    assert "small" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("select", "c.abstain", "new-small", "-o", "x.csv"),
            "`OUTPUTS` must be given for each model of the",
        ),
        (
            ("certify", "c.abstain", "--on", "new-small"),
            "`--on` must be given for each model of the cascade (small",
        ),
        (
            ("certify", "c.abstain", "--on", "new-small", "--on", "new-large", "--group-column", "g"),
            "`--group-column` must be left out with a cascade, got g",
        ),
        (
            ("select", "c.abstain", "new-large", "new-small", "--engine", "local", "-o", "x.csv"),
            "`--engine` must be",
        ),
        (
            ("sets", "c.abstain", "new-small", "--coverage", "0.9", "-o", "x.abstain"),
            FOREIGN,
        ),
        (("groups", "c.abstain", "new-small", "--group-column", "g"), "`table` must be a .csv or .parquet table"),
        (("cascade", "cal-small", "--risk", "0.05", "--costs", "1", "-o", "x.abstain"), "must be of at least 2 models"),
        (
            ("cascade", "cal-small", "cal-large", "--risk", "0.05", "--costs", "1,x", "-o", "x.abstain"),
            "`--costs` must be numbers with commas",
        ),
        (("report", "new-small", "new-large"), "`OUTPUTS` must be given once without a cascade, got 2"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(run, path, monkeypatch, arguments, message):
    monkeypatch.chdir(path)
    done = run(*arguments)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert message in done.stderr


@pytest.fixture(scope="module")
def tables(run, tmp_path_factory):
    """The two models as tables; the first has the segment of each row."""
    folder = tmp_path_factory.mktemp("tables")
    for seed, name in enumerate(("cal", "new", "later")):
        save_pair(folder, name, seed)
        segment = np.random.default_rng([seed, 9]).choice(["web", "store"], 2500)
        for model in ("small", "large"):
            rows = Outputs.load(folder / f"{name}-{model}")
            with (folder / f"{name}-{model}.csv").open("w", newline="") as stream:
                writer = csv.writer(stream)
                writer.writerow(["id", "confidence", "error", *(["segment"] if model == "small" else [])])
                columns = [rows.ids, rows.confidence("own"), rows.errors.astype(int)]
                writer.writerows(zip(*columns, *([segment] if model == "small" else []), strict=True))
    pair = (folder / "cal-small.csv", folder / "cal-large.csv")
    costs = ("--costs", "1,20", "--human-cost", "200", "--names", "small,large")
    assert run("cascade", *pair, "--risk", "0.05", *costs, "-o", folder / "c.abstain").returncode == 0
    return folder


def test_groups_of_rows_are_shown_for_all_models_together(run, tables):
    new = (tables / "new-small.csv", tables / "new-large.csv")
    done = run("groups", tables / "c.abstain", *new, "--group-column", "segment", "--json")
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["groups"]["segment"]["groups"]
    made = Cascade.load(tables / "c.abstain")
    accepted = made.accepts([Outputs.load(path) for path in new])
    assert [each["name"] for each in groups] == ["store", "web"]
    assert sum(each["accepted"] for each in groups) == accepted.sum()
    refused = run("groups", tables / "c.abstain", new[0], "--group-column", "segment")
    assert "must be given for each model of the cascade (small, large), got 1" in refused.stderr


def test_the_risk_of_all_models_together_is_estimated_without_labels(run, tables):
    known = ("--reference", tables / "new-small.csv", "--reference", tables / "new-large.csv")
    later = (tables / "later-small.csv", tables / "later-large.csv")
    done = run("estimate", tables / "c.abstain", *later, *known, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["coverage"] > 0.5


def test_the_report_takes_groups_and_unlabelled_rows(run, tables):
    page, new = tables / "report.html", (tables / "new-small.csv", tables / "new-large.csv")
    unlabelled = ("--unlabelled", tables / "later-small.csv", "--unlabelled", tables / "later-large.csv")
    more = ("--selector", tables / "c.abstain", "--group-column", "segment", *unlabelled, "-o", page)
    done = run("report", *new, *more)
    assert done.returncode == 0, done.stderr
    assert "An estimate" in done.stdout
    text = page.read_text()
    assert "Who is rejected" in text
    assert "store" in text
