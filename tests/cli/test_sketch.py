"""Sketch, merge, evaluate and calibrate as a user meets them: only counts travel."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from abstain import Outputs, Selector, Sketch
from abstain.cli.app import app

SUFFIXES = ("", ".npz", ".csv", ".parquet")


def make(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    logits = rng.normal(size=(n, 3)) + 3 * np.eye(3)[labels]
    return Outputs(logits=logits, labels=labels, domain=np.where(np.arange(n) % 2, "odd", "even"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for seed, name in enumerate("ab"):
        make(2000, seed).save(folder / name)
    return folder


def call(*arguments):
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_two_places_share_counts_alone(runs, tmp_path):
    for name in "ab":
        words = call("sketch", runs / name, "-o", tmp_path / f"{name}.sketch", "--per", "group")
        assert "2,000 rows" in words
    message = call("merge", tmp_path / "a.sketch", tmp_path / "b.sketch", "-o", tmp_path / "ab.sketch", "--json")
    assert json.loads(message)["n"] == 4000
    table = call("evaluate", tmp_path / "ab.sketch")
    assert "exact bounds" in " ".join(table.split())
    assert "Counts of 4,000 rows in bins" in table
    rows = json.loads(call("evaluate", tmp_path / "ab.sketch", "--json"))["rows"]
    assert all(row["lower"] <= row["aurc"] <= row["upper"] for row in rows)
    options = ("--score", "confidence_margin", "--risk", "0.03", "-o", tmp_path / "s.abstain")
    assert "at most 0.03, with probability at least 0.95" in call("calibrate", tmp_path / "ab.sketch", *options)
    both = Outputs.concat([Outputs.load(runs / name) for name in "ab"])
    selector = Selector.load(tmp_path / "s.abstain")
    assert selector.accepts(both).sum() == selector.threshold.accepted
    call("calibrate", tmp_path / "ab.sketch", *options[:4], "--per", "domain", "-o", tmp_path / "per.abstain")
    assert set(Selector.load(tmp_path / "per.abstain").groups.thresholds) == {"odd", "even"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_outputs_of_every_kind_are_counted_alike(suffix, runs, tmp_path):
    outputs, path = Outputs.load(runs / "a"), tmp_path / f"run{suffix}"
    if suffix == ".npz":
        np.savez(path, logits=outputs.logits, labels=outputs.labels)
    elif suffix:
        polars = pytest.importorskip("polars")
        columns = {f"logit_{k}": outputs.logits[:, k] for k in range(3)} | {"label": outputs.labels}
        frame = polars.DataFrame(columns)
        frame.write_csv(path) if suffix == ".csv" else frame.write_parquet(path)
    else:
        outputs.save(path)
    call("sketch", path, "-o", tmp_path / "c.sketch", "--score", "energy")
    result, expected = Sketch.load(tmp_path / "c.sketch"), tmp_path / "d.sketch"
    call("sketch", runs / "a", "-o", expected, "--score", "energy")
    assert result.counts().aurc() == Sketch.load(expected).counts().aurc()


def test_a_minimum_and_shared_edges(runs, tmp_path):
    options = ("--score", "energy", "--minimum", "25")
    call("sketch", runs / "a", "-o", tmp_path / "a.sketch", *options)
    call("sketch", runs / "b", "-o", tmp_path / "b.sketch", "--edges", tmp_path / "a.sketch")
    call("merge", tmp_path / "a.sketch", tmp_path / "b.sketch", "-o", tmp_path / "ab.sketch")
    assert Sketch.load(tmp_path / "ab.sketch").n == 4000
    call("sketch", runs / "b", "-o", tmp_path / "other.sketch", *options)
    with pytest.raises(
        ValueError,
        match=r"a\.sketch and .*other\.sketch: energy in \d+ edges.* again with `abstain sketch --edges .*a\.sketch`",
    ):
        call("merge", tmp_path / "a.sketch", tmp_path / "other.sketch", "-o", tmp_path / "no.sketch")
    assert not (tmp_path / "no.sketch").exists()


def test_the_same_counts_twice_are_not_merged(runs, tmp_path):
    call("sketch", runs / "a", "-o", tmp_path / "a.sketch", "--score", "energy")
    (tmp_path / "copy.sketch").write_bytes((tmp_path / "a.sketch").read_bytes())
    with pytest.raises(ValueError, match=r"copy\.sketch` must hold other rows than .*a\.sketch, got the same contents"):
        call("merge", tmp_path / "a.sketch", tmp_path / "copy.sketch", "-o", tmp_path / "no.sketch")
    assert not (tmp_path / "no.sketch").exists()


def test_bins_of_many_scores_are_told_in_few_words(runs, tmp_path):
    words = call("sketch", runs / "a", "-o", tmp_path / "a.sketch", "--minimum", "25")
    assert re.search(r"by shift, in \d+ to \d+ edges of ", words)


def test_what_a_sketch_cannot_do_is_told(runs, tmp_path):
    call("sketch", runs / "a", "-o", tmp_path / "a.sketch", "--score", "energy")
    with pytest.raises(ValueError, match="`--metric` must be left out with a sketch"):
        call("evaluate", tmp_path / "a.sketch", "--metric", "augrc")
    with pytest.raises(ValueError, match="`--cost` must be left out with a sketch"):
        call("calibrate", tmp_path / "a.sketch", "--cost", "0.1", "-o", tmp_path / "s.abstain")


def test_a_sketch_counts_per_class_or_group_and_nothing_else(runs, tmp_path):
    words = call("sketch", runs / "a", "-o", tmp_path / "a.sketch", "--per", "group", "--per", "class")
    assert "by shift, group, class" in words
    assert Sketch.load(tmp_path / "a.sketch").plan.by == ("shift", "domain", "class")
    with pytest.raises(ValueError, match="`--per` must be class or group, got 'town'"):
        call("sketch", runs / "a", "-o", tmp_path / "b.sketch", "--per", "town")


@pytest.mark.parametrize("option", ["--score energy", "--bits 12", "--equal-mass 9", "--per group"])
def test_what_the_sketch_of_the_edges_settles_is_not_asked_for_anew(option, runs, tmp_path):
    call("sketch", runs / "a", "-o", tmp_path / "a.sketch", "--score", "energy")
    name = option.split()[0]
    with pytest.raises(ValueError, match=f"`{name}` must be left out with --edges, whose sketch determines it, got "):
        call("sketch", runs / "b", "-o", tmp_path / "b.sketch", "--edges", tmp_path / "a.sketch", *option.split())


def test_bins_are_of_bits_or_of_equal_mass(runs, tmp_path):
    with pytest.raises(
        ValueError, match=r"`--bits` must be left out with --equal-mass, which makes its own bins, got "
    ):
        call("sketch", runs / "a", "-o", tmp_path / "a.sketch", "--bits", "12", "--equal-mass", "9")


def test_the_edges_of_a_coarse_sketch_are_for_independent_rows(runs, tmp_path):
    call("sketch", runs / "a", "-o", tmp_path / "a.sketch", "--score", "energy", "--minimum", "25")
    rows = Outputs.load(runs / "b")
    Outputs(logits=rows.logits, labels=rows.labels, ids=np.arange(2000)).save(tmp_path / "b")
    shared = ("sketch", tmp_path / "b", "-o", tmp_path / "b.sketch", "--edges", tmp_path / "a.sketch")
    with pytest.raises(ValueError, match=r"`plan` must have parts if ids may repeat.* with `distinct`"):
        call(*shared)
    call(*shared, "--distinct")
    assert "exact bounds" in " ".join(call("evaluate", tmp_path / "b.sketch").split())


def test_intervals_are_shown_where_they_are_asked_for(runs, tmp_path):
    file = tmp_path / "a.sketch"
    call("sketch", runs / "a", "-o", file, "--score", "energy")
    [row] = (row for row in json.loads(call("evaluate", file, "--json"))["rows"] if row["alpha"] == 1)
    interval = f"{100 * row['low']:.2f}–{100 * row['high']:.2f}"
    assert interval in call("evaluate", file, "--intervals")
    assert interval not in call("evaluate", file)
    assert interval not in call("evaluate", file, "--all")


def test_rows_with_ids_need_a_word_to_be_taken_for_independent(runs, tmp_path):
    outputs = Outputs.load(runs / "a")
    Outputs(logits=outputs.logits, labels=outputs.labels, ids=np.arange(2000)).save(tmp_path / "run")
    target = ("--risk", "0.03", "-o", tmp_path / "s.abstain")
    call("sketch", tmp_path / "run", "-o", tmp_path / "a.sketch", "--score", "energy")
    call("sketch", tmp_path / "run", "-o", tmp_path / "b.sketch", "--edges", tmp_path / "a.sketch", "--distinct")
    assert "no finite-sample guarantee" in call("calibrate", tmp_path / "a.sketch", *target)
    assert "no finite-sample guarantee" not in call("calibrate", tmp_path / "b.sketch", *target)


def test_a_sketch_must_have_the_suffix_by_which_commands_know_it(runs, tmp_path):
    for words in (("sketch", runs / "a"), ("merge", tmp_path / "a.sketch", tmp_path / "b.sketch")):
        with pytest.raises(ValueError, match=r"`--output` must end in \.sketch, got a\.foo\."):
            call(*words, "-o", tmp_path / "a.foo")
