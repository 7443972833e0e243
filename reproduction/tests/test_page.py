import json
from dataclasses import replace
from pathlib import Path

import pytest

from abstain._io.files import write_text
from abstain_reproduction.claims import CLAIMS, ClaimVerdict
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.page import claims_page, write_findings

FOUND = Findings(
    words="Something was done.",
    verdicts=(ClaimVerdict("scale-limit", "held", "AURC 0.1 ± 0.01", "100 samples"),),
    tables=(ResultTable("Areas", ("score", "AURC"), (("a|b", "1.0"),)),),
    numbers={"n": 100},
)


def test_findings_are_written_as_markdown_and_json(tmp_path):
    files = write_findings(FOUND, "A title", tmp_path / "scale")
    assert [file.name for file in files] == ["findings.md", "findings.json"]
    text = files[0].read_text()
    assert "# A title" in text
    assert "| a\\|b | 1.0 |" in text
    assert json.loads(files[1].read_text())["verdicts"][0]["outcome"] == "held"


def test_a_failure_leaves_what_was_there(tmp_path):
    matplotlib = pytest.importorskip("matplotlib.figure")
    before = replace(FOUND, figures={"curve": matplotlib.Figure})
    write_findings(before, "Before", tmp_path)
    kept = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert kept.keys() == {"findings.json", "findings.md", "curve.png", "curve.svg", "curve.pdf"}

    def fails():
        raise RuntimeError("no paint")

    with pytest.raises(RuntimeError, match="no paint"):
        write_findings(replace(before, figures={"curve": matplotlib.Figure, "other": fails}), "After", tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == kept


def test_where_the_findings_are_all_else_belongs_to_them(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib.figure")
    before = replace(FOUND, figures={"curve": matplotlib.Figure})
    write_findings(before, "Before", tmp_path)
    put, moved = Path.replace, []

    def stopped(file, goal):
        if len(moved) == 2:
            raise KeyboardInterrupt
        moved.append(goal.name)
        return put(file, goal)

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_findings(before, "After", tmp_path)
    assert not (tmp_path / "findings.json").exists()
    assert not list(tmp_path.glob(".findings-*"))


def test_a_claim_that_no_data_can_test_says_why(tmp_path):
    page = claims_page(tmp_path)
    assert "Not testable: §1 says that they always do" in page
    assert "Not tested by the experiments in this folder." in page


def test_the_page_has_every_claim_and_what_was_found_of_it(tmp_path):
    write_findings(FOUND, "A title", tmp_path / "scale")
    page = claims_page(tmp_path)
    assert all(claim.text in page for claim in CLAIMS.values())
    assert f"1 of {len(CLAIMS)} claims were tested (1 cannot be), 1 times in all: 1 held" in page
    assert "| held | scale | 100 samples | AURC 0.1 ± 0.01 |" in page


def test_the_evidence_does_not_repeat_the_title_of_its_experiment(tmp_path):
    tested = (
        replace(FOUND.verdicts[0], data="Four networks: the second; 9 rows"),
        replace(FOUND.verdicts[0], data="9 nets"),
    )
    write_findings(replace(FOUND, verdicts=tested), "Four networks", tmp_path / "scale")
    page = claims_page(tmp_path)
    assert "| held | scale | the second; 9 rows |" in page
    assert "| held | scale | 9 nets |" in page


def test_verdicts_on_files_of_the_machine_are_shown_and_not_counted(tmp_path):
    write_findings(FOUND, "A title", tmp_path / "scale")
    refuted = (ClaimVerdict("scale-limit", "not held", "AURC 0.3", "magika, 10 rows"),)
    write_findings(replace(FOUND, verdicts=refuted), "Files", tmp_path / "magika")
    write_findings(replace(FOUND, verdicts=refuted), "KNN", tmp_path / "knn-ablation")
    page = claims_page(tmp_path)
    assert "1 times in all: 1 held, 0 did not, 0 undecided. 2 more read the files of the machine they ran on" in page
    assert "(#claim-scale-limit) | **held** | 1 |  |  |" in page
    assert page.count("| not held | magika | magika, 10 rows | AURC 0.3 |") == 1


def test_the_verdicts_come_before_the_evidence_which_is_folded(tmp_path):
    write_findings(FOUND, "A title", tmp_path / "scale")
    verdicts, evidence = claims_page(tmp_path).split("## Evidence")
    claim = CLAIMS[FOUND.verdicts[0].claim]
    assert f"| [{claim.text}](#claim-{claim.key}) | **held** | 1 |  |  |" in verdicts
    assert "AURC 0.1" not in verdicts
    assert evidence.count(":::{dropdown}") == len(CLAIMS)


def test_tests_that_disagree_are_mixed_and_undecided_ones_do_not_count(tmp_path):
    key = FOUND.verdicts[0].claim
    for k, outcomes in enumerate((["held", "undecided"], ["not held"])):
        findings = replace(FOUND, verdicts=tuple(ClaimVerdict(key, outcome, "so", "this") for outcome in outcomes))
        write_findings(findings, "A title", tmp_path / str(k))
        expected = ("**held** | 1 |  | 1 |", "**mixed** | 1 | 1 | 1 |")[k]
        assert expected in claims_page(tmp_path)


def test_every_claim_stands_with_its_hedge_and_our_choices(tmp_path):
    page = claims_page(tmp_path)
    assert "§4.3. Tested as: most (“in most experiments”, “only in rare cases”). Our choices:\n\n- most is more" in page
    assert all(f"- {choice}\n" in page for claim in CLAIMS.values() for choice in claim.choices)


def test_other_files_are_refused_by_name(tmp_path):
    (tmp_path / "scale").mkdir()
    write_text(tmp_path / "scale" / "findings.json", '{"verdicts": [1]}')
    with pytest.raises(
        ValueError, match=r"findings.json` must be findings that `abstain reproduce` wrote, got '1' where"
    ):
        claims_page(tmp_path)


def test_findings_nested_without_end_are_refused_by_name(tmp_path):
    (tmp_path / "scale").mkdir()
    write_text(tmp_path / "scale" / "findings.json", "[" * 100_000)
    with pytest.raises(
        ValueError, match=r"findings.json` must be findings that `abstain reproduce` wrote, got maximum"
    ):
        claims_page(tmp_path)


def test_a_verdict_names_a_claim_of_the_paper():
    with pytest.raises(ValueError, match="must be the key of a claim of the paper, got 'nothing'"):
        ClaimVerdict("nothing", "held", "", "")
