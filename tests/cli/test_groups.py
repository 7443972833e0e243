"""`abstain groups` on tables of any columns, and what each remedy costs."""

import csv
import json

import numpy as np
import pytest

from abstain import calibrate, certify
from abstain.outputs import Outputs
from abstain.selector.remedies import remedies


def write(file, seed, n=3000):
    """In the segment `new` errors are three times as frequent at the same confidence."""
    rng = np.random.default_rng(seed)
    u, segment = rng.random(n), np.where(rng.random(n) < 0.3, "new", "old")
    wrong = rng.random(n) < np.where(segment == "new", 0.45, 0.15) * u
    region = rng.choice(["north", "south"], n)
    with open(file, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["confidence", "error", "segment", "region"])
        writer.writerows(zip(1 - u, wrong.astype(int), segment, region, strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    for name, seed in (("held_out", 0), ("fresh", 1)):
        write(folder / f"{name}.csv", seed)
    calibrate(Outputs.load(folder / "held_out.csv"), risk=0.1).save(folder / "s.abstain")
    return folder


def test_groups_and_their_intersection_are_shown(run, folder):
    columns = ("--group-column", "segment", "--group-column", "region")
    done = run("groups", folder / "s.abstain", folder / "fresh.csv", *columns, "--json")
    document = json.loads(done.stdout)
    assert list(document["groups"]) == ["segment", "region", "segment × region"]
    crossed = document["groups"]["segment × region"]["groups"]
    assert [group["name"] for group in crossed] == ["new × north", "new × south", "old × north", "old × south"]
    assert sum(group["n"] for group in crossed) == 3000
    gaps = {gap["rate"]: gap for gap in document["gaps"]["segment"]}
    assert gaps["risk"]["high"] == "new"
    assert gaps["risk"]["at_least"] > 0
    assert gaps["coverage"]["at_least"] == 0


def test_the_words_name_the_groups_and_the_remedies(run, folder):
    other = ("--remedies", folder / "held_out.csv")
    done = run("groups", folder / "s.abstain", folder / "fresh.csv", "--group-column", "segment", *other)
    assert done.returncode == 0
    words = " ".join((done.stdout + done.stderr).split())
    assert "By segment, intervals that hold together with probability 0.95" in words
    assert "- one threshold: accepted 8" in words
    assert "- a threshold for each group: accepted" in words


def test_remedies_keep_the_risk_in_every_group_at_the_cost_of_coverage(folder):
    rows = [Outputs.load(folder / f"{name}.csv", group="segment") for name in ("held_out", "fresh")]
    alone, joint, each = remedies(*rows, risk=0.1)
    assert alone.highest_risk > 0.15
    assert max(joint.highest_risk, each.highest_risk) < 0.11
    assert joint.coverage < min(alone.coverage, each.coverage)
    assert each.lowest_coverage < alone.lowest_coverage
    refused = remedies(*rows, risk=0.0005)[0]
    assert refused.coverage is None
    assert "No threshold certifies risk" in refused.reason


def test_certify_tests_groups_of_any_column(run, folder):
    arguments = ("certify", folder / "s.abstain", "--on", folder / "fresh.csv", "--group-column", "segment", "--json")
    domains = json.loads(run(*arguments).stdout)["fresh"]["domains"]
    assert {part["counts"]["name"]: part["above"] for part in domains} == {"new": True, "old": False}
    selector = calibrate(Outputs.load(folder / "held_out.csv"), risk=0.1)
    assert not certify(selector, Outputs.load(folder / "fresh.csv")).fresh.domains


@pytest.mark.parametrize(
    ("column", "message"),
    [("error", "must not be an outcome, a confidence or an id, got error"), ("town", "must have a column town")],
)
def test_columns_that_are_no_groups_are_refused(run, folder, column, message):
    done = run("groups", folder / "s.abstain", folder / "fresh.csv", "--group-column", column)
    assert done.returncode == 1
    assert message in done.stderr


@pytest.fixture(scope="module")
def frauds(tmp_path_factory):
    """Frauds of the segment `store` look like "ok" far more often."""
    folder = tmp_path_factory.mktemp("frauds")
    for name, seed in (("held_out", 2), ("fresh", 3)):
        rng = np.random.default_rng(seed)
        fraud, store = rng.random(8000) < 0.05, rng.random(8000) < 0.2
        p = 1 / (1 + np.exp(-rng.normal(np.where(fraud, np.where(store, -1, 4), -4), 1.5)))
        with open(folder / f"{name}.csv", "w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["proba_ok", "proba_fraud", "label", "segment"])
            writer.writerows(
                zip(1 - p, p, np.where(fraud, "fraud", "ok"), np.where(store, "store", "web"), strict=True)
            )
    calibrate(Outputs.load(folder / "held_out.csv"), miss_rate={"fraud": 0.1}).save(folder / "s.abstain")
    return folder


def test_misses_of_each_group_are_shown_where_a_miss_rate_is_guaranteed(run, frauds):
    arguments = ("groups", frauds / "s.abstain", frauds / "fresh.csv", "--group-column", "segment")
    store, web = json.loads(run(*arguments, "--json").stdout)["groups"]["segment"]["groups"]
    assert store["misses"]["fraud"]["low"] > web["misses"]["fraud"]["high"]
    assert "; of the true class fraud missed " in run(*arguments).stdout


def test_certify_marks_groups_of_which_more_is_missed_than_is_guaranteed(run, frauds):
    arguments = ("certify", frauds / "s.abstain", "--on", frauds / "fresh.csv", "--group-column", "segment")
    document = json.loads(run(*arguments, "--json").stdout)
    missed = {part["counts"]["name"]: part["above"] for part in document["fresh"]["missed"]}
    assert missed == {"store, true class fraud": True, "web, true class fraud": False}
    words = " ".join(run(*arguments).stdout.split())
    assert "In the group store, true class fraud, " in words
    assert "rows of this true class are accepted with another answer, significantly more" in words


def test_evaluate_prints_groups_with_intervals_that_hold_together(run, folder):
    arguments = ("evaluate", folder / "fresh.csv", "--group-column", "segment", "--selector", folder / "s.abstain")
    words = " ".join(run(*arguments).stdout.split())
    assert "of the rows: By segment, intervals that hold together with probability 0.95: - " in words
    known = json.loads(run(*arguments, "--json").stdout)["groups"]["groups"]
    compared = run("groups", folder / "s.abstain", folder / "fresh.csv", "--group-column", "segment", "--json")
    assert known == json.loads(compared.stdout)["groups"]["segment"]["groups"]
    assert "By segment" not in run("evaluate", folder / "fresh.csv").stdout


def test_the_report_has_the_same_intervals(run, folder, tmp_path):
    page = tmp_path / "report.html"
    arguments = ("--group-column", "segment", "--selector", folder / "s.abstain", "-o", page)
    assert run("report", folder / "fresh.csv", *arguments).returncode == 0
    text = page.read_text()
    assert "Who is rejected" in text
    assert "All intervals hold together with probability 95%" in text
