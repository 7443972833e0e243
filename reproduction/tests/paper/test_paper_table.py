import pytest

from abstain_reproduction.paper.paper_latex import LatexBlock, paper_latex
from abstain_reproduction.paper.paper_table import PaperTable
from abstain_reproduction.paper.score_claims import PAPER_SCORES

AREAS = {
    (score, mix, alpha): 0.01 * (1 + rank)
    for mix in ("in", "in+cov")
    for alpha in (0.1, 0.5, 1.0)
    for rank, score in enumerate(PAPER_SCORES)
}


def test_the_best_is_bold_and_the_next_two_underlined():
    rows = PaperTable(AREAS).markdown("A title").rows
    assert [row[1] for row in rows[:4]] == ["**1.00**", "<u>2.00</u>", "<u>3.00</u>", "4.00"]


def test_values_that_print_alike_share_a_place():
    areas = AREAS | {("geometric_margin", "in", 0.1): 0.010004}
    column = [row[1] for row in PaperTable(areas).markdown("A title").rows]
    assert column[:5] == ["**1.00**", "**1.00**", "<u>3.00</u>", "<u>4.00</u>", "5.00"]


def test_ours_stand_beside_the_papers_with_the_difference():
    table = PaperTable(AREAS).paper_comparison("imagenet", "eva")
    assert table.columns == (
        "score",
        *(f"{mix} α={alpha}" for mix in ("in", "in+cov") for alpha in ("0.1", "0.5", "1")),
    )
    assert table.rows[0][:2] == ("RL_conf-M", "1.00 / 0.16 (+0.84)")
    assert PaperTable(AREAS).paper_comparison("imagenet", "another") is None


def test_a_score_that_could_not_be_computed_is_left_out():
    areas = {key: value for key, value in AREAS.items() if key[0] != "knn" and key[:2] != ("vim", "in")}
    table = PaperTable(areas)
    assert "KNN" not in {row[0] for row in table.markdown("A title").rows}
    assert next(row for row in table.markdown("A title").rows if row[0] == "ViM")[1] == "–"
    assert "--" in paper_latex([[LatexBlock("ImageNet", "EVA", table)]])


def test_the_table_of_an_evaluation_has_its_areas(digits):
    import abstain

    evaluation = abstain.evaluate(digits, scores=PAPER_SCORES)
    table = PaperTable.of(evaluation)
    assert len(table.areas) == 10 * 4 * 3
    expected = evaluation.row("energy", "in+cov", 0.5).aurc
    assert table.areas["energy", "in+cov", 0.5] == pytest.approx(expected)
