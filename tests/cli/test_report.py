import json
import re

import numpy as np
import pytest

from abstain import Outputs, calibrate


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=600)
    path = tmp_path_factory.mktemp("outputs") / "my run"
    Outputs(logits=rng.normal(size=(600, 3)) + 3 * np.eye(3)[labels], labels=labels).save(path)
    return path


def test_a_report_is_one_file_that_names_its_outputs(run, folder, tmp_path):
    done = run("report", folder, "--score", "energy", "--risk", "0.1", "-o", tmp_path / "a.html", "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["report"] == str(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert f"abstain calibrate &#x27;{folder}&#x27; --score energy --risk 0.1" in page
    assert [file.name for file in tmp_path.iterdir()] == ["a.html"]


def test_a_report_about_a_selector(run, folder, tmp_path):
    selector = calibrate(Outputs.load(folder), score="max_softmax", risk=0.02)
    selector.save(tmp_path / "s.abstain")
    done = run("report", folder, "--score", "energy", "--selector", tmp_path / "s.abstain", "-o", tmp_path / "a.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "a.html").read_text()
    assert f"a confidence above {selector.threshold.value:.4g}".replace("-", "−") in page
    assert f"abstain certify {tmp_path / 's.abstain'} --on &#x27;{folder}&#x27;" in page
    assert "600 answers" in page


def test_a_risk_out_of_reach_is_told_on_the_terminal(run, folder, tmp_path):
    done = run("report", folder, "--score", "energy", "--risk", "0.0001", "-o", tmp_path / "a.html")
    assert "no threshold can guarantee at most 0.01% errors" in done.stdout
    assert "achievable" in done.stdout


def test_evaluate_writes_the_page_beside_its_table(run, folder, tmp_path):
    done = run("evaluate", folder, "--score", "energy", "--report", tmp_path / "a.html")
    assert "AURC" in done.stdout
    assert f"abstain calibrate &#x27;{folder}&#x27; --score energy" in (tmp_path / "a.html").read_text()


def test_a_page_that_cannot_be_written_is_known_before_work_begins(run, tmp_path):
    done = run("report", tmp_path / "none", "-o", tmp_path / "missing" / "a.html")
    assert done.returncode == 1
    assert "must be in a folder that exists" in done.stderr


def test_a_risk_out_of_reach_decides_no_threshold_and_no_coverage(run, folder, tmp_path):
    done = run("report", folder, "--score", "energy", "--risk", "0.0001", "-o", tmp_path / "a.html", "--json")
    decided = json.loads(done.stdout)["decision"]
    assert (decided["threshold"], decided["coverage"], decided["risk"]) == (None, None, None)


def test_the_page_has_a_title_of_ones_own_and_a_short_guarantee(run, tmp_path):
    rng = np.random.default_rng(0)
    for name in ("old", "new"):
        confidence = rng.random(3000)
        wrong = rng.random(3000) < 0.3 * (1 - confidence) ** 2
        Outputs(confidences={"a": confidence}, errors=wrong).save(tmp_path / name)
    run("calibrate", tmp_path / "old", "--risk", "0.05", "-o", tmp_path / "s")
    goal = tmp_path / "a.html"
    run("report", tmp_path / "new", "--selector", tmp_path / "s", "--title", "Our <classifier>", "-o", goal)
    page = goal.read_text()
    assert "<h1>Our &lt;classifier&gt;</h1>" in page
    short, folded = re.search(r"What is guaranteed\.</strong>(.*?)<details>(.*?)</details>", page).groups()
    assert "The share of errors among accepted rows is at most 5%, with probability 95%." in short
    assert "p = " not in short
    assert "p = " in folded
    assert "in-distribution" not in page


def test_shares_are_in_percent_all_over_the_page(run, folder, tmp_path):
    done = run("report", folder, "--risk", "0.1", "-o", tmp_path / "a.html")
    assert done.returncode == 0, done.stderr
    page = re.sub(
        r"<script.*?</script>|<style.*?</style>|<pre>.*?</pre>|<code.*?</code>",
        "",
        (tmp_path / "a.html").read_text(),
        flags=re.S,
    )
    words = re.sub(r"<[^>]*>", " ", page)
    assert "at most 10%, with probability at least 95%" in words
    assert "× 100" not in words
    shares = re.findall(r"(?:AURC[-\d.]*|risk of|at most|at least|against|probability) (\d+\.\d+)(?!\d*%)", words)
    assert not shares, shares
    assert re.search(r"<td[^>]*>\s*\d+\.\d\d%", page)


def test_new_outputs_without_labels_get_a_section(run, folder, tmp_path):
    selector, page = tmp_path / "s.abstain", tmp_path / "report.html"
    assert run("calibrate", folder, "--coverage", "0.8", "-o", selector).returncode == 0
    done = run("report", folder, "--selector", selector, "--unlabelled", folder, "-o", page, "--score", "max_softmax")
    assert done.returncode == 0, done.stderr
    assert "An estimate, not a guarantee" in done.stdout
    assert "New rows without labels" in page.read_text(encoding="utf-8")


def test_rows_without_labels_need_a_selector(run, folder, tmp_path):
    done = run("report", folder, "--unlabelled", folder, "-o", tmp_path / "report.html")
    assert done.returncode == 1
    assert "`--unlabelled` must come with `--selector`" in done.stderr
