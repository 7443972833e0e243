"""Many Parquet files from the command line."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from abstain.scale import sketch
from abstain.sketch import Sketch


@pytest.fixture
def shards(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "data").mkdir()
    for number in range(3):
        labels = rng.integers(4, size=200)
        z = (rng.normal(size=(200, 4)) + 2 * np.eye(4)[labels]).astype(np.float32)
        frame = pl.DataFrame({"logits": z, "label": labels, "shift": rng.choice(["none", "covariate"], size=200)})
        frame.write_parquet(tmp_path / "data" / f"{number}.parquet", row_group_size=64)
    return tmp_path / "data"


def test_a_pattern_and_names_are_evaluated_alike(run, shards, tmp_path):
    options = ("--json", "--score", "max_softmax,energy")
    result = [
        run("evaluate", f"{shards}/*.parquet", *options, "--resume", tmp_path / "kept"),
        run("evaluate", *sorted(shards.iterdir()), *options),
    ]
    assert result[0].returncode == 0, result[0].stderr
    assert len({each.stdout for each in result}) == 1
    document = json.loads(result[0].stdout)
    assert document["n"] == 600
    assert {row["mix"] for row in document["rows"]} == {"in", "in+cov"}
    assert all(row["lower"] <= row["aurc"] <= row["upper"] for row in document["rows"])
    assert len(list((tmp_path / "kept").iterdir())) == 3


def test_decisions_for_each_file_and_for_people(run, shards, tmp_path):
    assert run("calibrate", shards / "0.parquet", "--coverage", "0.5", "-o", tmp_path / "s.abstain").returncode == 0
    done = run("select", tmp_path / "s.abstain", *sorted(shards.iterdir()), "-o", tmp_path / "d", width=200)
    assert done.returncode == 0, done.stderr
    assert "of 600 samples" in done.stdout
    frames = [pl.read_parquet(file) for file in sorted((tmp_path / "d").iterdir())]
    assert [len(frame) for frame in frames] == [200, 200, 200]
    single = run("select", tmp_path / "s.abstain", shards / "1.parquet", "-o", tmp_path / "one.parquet")
    assert single.returncode == 0, single.stderr
    assert pl.read_parquet(tmp_path / "one.parquet")["accepted"].equals(frames[1]["accepted"])


def test_a_sketch_of_many_files_merges_with_that_of_others(run, shards, tmp_path):
    files = sorted(shards.iterdir())
    assert run("sketch", *files[:2], "-o", tmp_path / "a.sketch", "--score", "energy").returncode == 0
    done = run("sketch", files[2], "--engine", "local", "--edges", tmp_path / "a.sketch", "-o", tmp_path / "b.sketch")
    assert done.returncode == 0, done.stderr
    done = run("merge", tmp_path / "a.sketch", tmp_path / "b.sketch", "-o", tmp_path / "ab.sketch", "--json")
    assert json.loads(done.stdout)["n"] == 600
    both, whole = Sketch.load(tmp_path / "ab.sketch"), sketch(shards, scores="energy").sketch
    assert both.counts().aurc() == whole.counts().aurc()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--engine", "rey"), "`engine` must be one of local, ray, got 'rey'. Did you mean ray?"),
        (("--metric", "augrc"), "`--metric` must be left out where Parquet files are read in parts"),
        (("--score", "knn"), "knn: the outputs have no features"),
        (("--engine", "ray", "--address", "127.0.0.1:1"), "`address` must be that of a Ray cluster that lets you in"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(run, shards, arguments, message):
    done = run("evaluate", shards, *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


WORKERS_DIE = """
import os, signal, sys
from abstain.cli import main
from abstain.scale import Engine

run = Engine.map

class DiesOnce:
    def __init__(self, work, mark):
        self.work, self.mark = work, mark

    def __call__(self, item):
        if not os.path.exists(self.mark):
            open(self.mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.work(item)

mark = sys.argv.pop()
Engine.map = lambda self, work, items: run(self, DiesOnce(work, mark), items)
main()
"""


def test_a_ray_worker_that_dies_leaves_json_alone_on_standard_output(run, shards, tmp_path):
    pytest.importorskip("ray")
    options = ("evaluate", shards, "--score", "energy", "--json", "--engine")
    command = [sys.executable, "-c", WORKERS_DIE, *map(str, options), "ray", "--workers", "1", str(tmp_path / "died")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (tmp_path / "died").exists()
    assert json.loads(done.stdout) == json.loads(run(*options, "local").stdout)
    assert "worker died" in done.stderr  # where it is reported
