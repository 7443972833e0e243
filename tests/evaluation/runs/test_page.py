"""Two models in Markdown, in a figure and on a page; names that others chose are shown as text."""

from dataclasses import replace

import numpy as np
import pytest

from abstain import Outputs, compare_runs
from abstain.evaluation.runs.figure import comparison_figure
from abstain.evaluation.runs.page import comparison_markdown, comparison_page, comparison_tables
from abstain.report.figures.save import picture_bytes
from abstain.report.page import shortened

HOSTILE = ("<script>alert(1)</script>|$x$", '"><img src=x onerror=alert(2)>\n' + "ü" * 200)


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    wrong = rng.random(400) < 0.2
    runs = [Outputs(confidences={"c": rng.random(400) - k * wrong}, errors=wrong) for k in (1.0, 0.0)]
    return compare_runs(*runs, names=HOSTILE)


def test_the_tables_have_every_question(comparison):
    tables = comparison_tables(comparison, comparison.mix())
    assert [len(table.rows) for table in tables] == [3, 4, 2, 4, 4]
    assert tables[0].rows[-1][-1] == "significant"


def test_coverages_and_risks_are_percentages_as_what_is_compared_there(comparison):
    _, risk, coverage, *gains = comparison_tables(comparison, comparison.mix())
    assert [row[0] for row in risk.rows] == ["50%", "80%", "90%", "100%"] == [row[0] for row in gains[0].rows]
    assert all(row[0].endswith("%") for row in coverage.rows)


def test_names_in_markdown_are_text(comparison):
    result = comparison_markdown(comparison)
    assert "<script>" not in result
    assert "<img" not in result
    assert "&lt;script&gt;" in result
    body = [line for line in result.splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") in (7, 8) for line in body)


def test_names_on_the_page_are_text(comparison, tmp_path):
    comparison.to_html(tmp_path / "c.html")
    result = (tmp_path / "c.html").read_text()
    assert "<script>alert" not in result
    assert "<img src=x" not in result
    assert "http-equiv" in result
    assert 'src="data:image/svg+xml;base64,' in result
    assert result == comparison_page(comparison)


def test_the_page_opens_without_a_complaint(comparison, opened):
    page = opened(comparison_page(comparison))
    assert page.title() == f"{HOSTILE[0]} and {shortened(HOSTILE[1])}, compared".replace("\n", " ")
    assert page.locator("img").count() == 1
    assert page.locator("img").evaluate("image => image.naturalWidth") > 100


def test_the_figure_is_drawn_with_any_name_and_the_same_bytes(comparison):
    first, again = (picture_bytes(comparison_figure(comparison), ".svg") for _ in range(2))
    assert first == again
    assert len(comparison_figure(comparison).axes) == 2


def test_an_unknown_mix_is_refused(comparison):
    with pytest.raises(ValueError, match="`mixes` must be among in"):
        comparison_figure(comparison, mixes=["all"])


def test_very_long_names_are_cut_on_the_page_and_told_whole_once(comparison):
    whole = "x" * 10_000
    result = comparison_page(replace(comparison, names=(whole, "b")))
    assert result.count(whole) == 1


def test_letters_that_turn_the_direction_of_text_are_escaped(comparison):
    turned = replace(comparison, names=("\u202egnp.exe", "b"))
    page = comparison_page(turned).replace("<bdi>\u202egnp.exe</bdi>", "")
    assert "\u202e" not in comparison_markdown(turned) + page
    assert "\\\\u202egnp.exe" in comparison_markdown(turned)


def test_the_axis_says_which_is_taken_from_which(comparison):
    for names, label in ((("old", "new"), "new − old"), (HOSTILE, "Second − first")):
        figure = comparison_figure(replace(comparison, names=names))
        assert figure.axes[1].get_ylabel() == f"{label}\n(points), 95% band"


def test_a_gain_of_coverage_is_positive_whichever_model_has_it(comparison):
    """The first is better at every coverage, and the second accepts fewer: a minus sign, and never "all to"."""
    *_, of_a, of_b = comparison_tables(comparison, comparison.mix())
    assert of_a.columns[2] == of_b.columns[2] == "more"
    assert of_a.rows[0][2].startswith("+")
    assert of_b.rows[0][2].startswith("−")
    assert not any(row[4].startswith("all to") for row in (*of_a.rows, *of_b.rows))
