"""`abstain certify` in a process of its own: what it writes, and how it gates a release."""

import json

import numpy as np
import pytest

from abstain import Outputs, calibrate


def rows(folder, n, seed, steep=0.3):
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    outputs = Outputs(confidences={"vendor": 1 - u}, errors=rng.random(n) < steep * u**2)
    outputs.save(folder)
    return outputs


@pytest.fixture(scope="module")
def path(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("certified")
    calibrate(rows(folder / "cal", 3000, 0), risk=0.05).save(folder / "s.abstain")
    rows(folder / "fresh", 3000, 1)
    rows(folder / "bad", 3000, 2, steep=0.9)
    done = run("certify", folder / "s.abstain", "--on", folder / "fresh", "-o", folder / "c.json")
    assert done.returncode == 0, done.stderr
    return folder


def test_the_guarantee_and_the_verdict_are_told(run, path):
    done = run("certify", path / "s.abstain", "--on", path / "fresh", "-o", path / "c.html")
    assert done.stdout.startswith("The share of errors among accepted rows is at most 0.05, with probability")
    assert "A share of 10% would be noticed with probability 100%" in done.stdout
    assert (path / "c.html").read_text().startswith("<!doctype html>")


def test_a_certificate_is_the_same_bytes_again_and_stands(run, path):
    run("certify", path / "s.abstain", "--on", path / "fresh", "-o", path / "again.json")
    assert (path / "again.json").read_bytes() == (path / "c.json").read_bytes()
    done = run("certify", "--check", path / "c.json", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"stands": True, "breaks": [], "notices": []})


def test_decisions_without_an_audit_are_refused_with_what_to_give(run, path):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=900)
    selector = calibrate(Outputs(logits=rng.normal(size=(900, 3)) + 5 * np.eye(3)[labels], labels=labels), risk=0.2)
    selector.save(path / "classes.abstain")
    (path / "decisions.csv").write_text("id,confidence,accepted,error\na,1.0,True,0\n")
    done = run("certify", path / "classes.abstain", "--on", path / "decisions.csv", width=400)
    assert done.returncode == 1
    assert "must be labelled outputs, or decisions with an audit, got decisions without one." in done.stderr


def test_a_refuted_guarantee_ends_with_3(run, path):
    done = run("certify", path / "s.abstain", "--on", path / "bad", "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (3, "refuted")
    done = run("certify", "--check", path / "c.json", "--on", path / "bad")
    assert done.returncode == 3
    assert "broken: The guarantee is refuted by the fresh rows." in done.stdout


def test_a_changed_selector_breaks_it_and_a_missing_one_is_an_error(run, path):
    calibrate(Outputs.load(path / "cal"), risk=0.06).save(path / "t.abstain")
    done = run("certify", path / "t.abstain", "--check", path / "c.json")
    assert done.returncode == 3
    assert done.stdout.splitlines()[2].startswith("- broken: another selector (digest ")
    done = run("certify", path / "none.abstain")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_a_weaker_verdict_than_is_required_ends_with_3(run, path):
    few = rows(path / "few", 40, 3)
    assert len(few) == 40
    for verdict, arguments in {"not tested": [], "too little data": ["--on", path / "few"]}.items():
        assert run("certify", path / "s.abstain", *arguments).returncode == 0
        done = run("certify", path / "s.abstain", *arguments, "--require", "consistent")
        assert done.returncode == 3
        assert f"`--require` needs the verdict 'consistent', got {verdict!r}." in done.stderr
    assert run("certify", "--check", path / "c.json", "--require", "consistent").returncode == 0


def test_a_certificate_that_holds_with_a_weaker_verdict_than_required_ends_with_3(run, path):
    rows(path / "some", 1000, 4, steep=0.4)
    weak = path / "weak.json"
    made = run("certify", path / "s.abstain", "--on", path / "some", "-o", weak, "--json")
    verdict = json.loads(made.stdout)["verdict"]
    assert verdict in ("consistent", "too little data")
    done = run("certify", "--check", weak, "--require", "confirmed")
    assert (done.returncode, done.stderr) == (
        3,
        f"abstain: `--require` needs the verdict 'confirmed', got {verdict!r}.\n",
    )
    assert done.stdout.startswith("The certificate holds.\n- verdict: The ")


def test_a_file_that_the_certificate_names_is_looked_up_from_here(run, path):
    document = json.loads((path / "c.json").read_text())
    document["sources"]["selector"] = "elsewhere.abstain"
    (path / "moved.json").write_text(json.dumps(document))
    done = run("certify", "--check", path / "moved.json")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "`elsewhere.abstain`, named in the certificate, must exist, got no such file in " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "`SELECTOR` must be given, got none"),
        (["s.abstain", "-o", "c.txt"], "`--output` must end in .json, .md or .html, got c.txt"),
        (["--check", "s.abstain"], "must be a certificate in UTF-8|must be a certificate as"),
        (["s.abstain", "--on", "cal"], "`fresh` must be rows that the selector has not seen"),
    ],
)
def test_errors_are_one_line(run, path, arguments, message):
    import re

    files = [path / each if (path / each).exists() else each for each in arguments]
    done = run("certify", *files)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(message, done.stderr)
    assert done.stderr.count("\n") == 1


def test_decisions_by_a_column_of_groups_are_certified_as_select_writes_them(run, tmp_path):
    for seed, name in enumerate(("old.csv", "new.csv")):
        rng = np.random.default_rng(seed)
        confidence, is_right = rng.random(3000), rng.random(3000)
        lines = [
            f"{c:.6f},{int(u < 0.6 + 0.4 * c)},{'ab'[k % 2]}"
            for k, (c, u) in enumerate(zip(confidence, is_right, strict=True))
        ]
        (tmp_path / name).write_text("\n".join(["confidence,correct,segment", *lines]))
    selector, decisions = tmp_path / "s.abstain", tmp_path / "d.csv"
    run("calibrate", tmp_path / "old.csv", "--risk", "0.1", "--per", "segment", "-o", selector)
    run("select", selector, tmp_path / "new.csv", "-o", decisions)
    documents = [run("certify", selector, "--on", file, "--json") for file in (tmp_path / "new.csv", decisions)]
    verdicts = [json.loads(done.stdout)["verdict"] for done in documents]
    assert verdicts == ["consistent", "consistent"]
