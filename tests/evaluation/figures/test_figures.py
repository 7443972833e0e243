"""Every figure draws the numbers of the library, is the same when drawn again, and says what it leaves out."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from abstain import Outputs, calibrate, evaluate
from abstain.evaluation.figures.folder import FIGURES, write_figures
from abstain.evaluation.figures.guarantee import draw_guarantees, guarantee_figure
from abstain.evaluation.figures.histogram import draw_histogram, edges_of, histogram_figure
from abstain.evaluation.figures.risk_coverage import draw_risk_coverage, risk_coverage_figure
from abstain.evaluation.figures.significance import BETTER, draw_significance, significance_figure
from abstain.evaluation.figures.slices import draw_shares, slices_figure
from abstain.evaluation.guarantee_check import GuaranteeCheck, kept_guarantees
from abstain.evaluation.operating_point import point_of_risk, point_of_selector
from abstain.metrics import ScoreDifference, compare_all, compare_groups, risk_band
from abstain.metrics.slices import ShareEstimate
from abstain.report.figures.style import CannotDrawError, label_of, plain
from abstain.scores import SCORES

HOSTILE = "_$\\frac{1}$ <b>\n%s"


@pytest.fixture(scope="module")
def evaluation(digits):
    return evaluate(digits, scores=["max_softmax", "confidence_margin", "energy"])


@pytest.fixture(scope="module")
def point(evaluation):
    return point_of_risk(evaluation, risk=0.15, delta=0.05)


def test_curves_and_bands_are_those_of_the_evaluation(evaluation):
    axes = Figure().subplots()
    draw_risk_coverage(axes, evaluation, mix="all", scores=["energy", "max_softmax"], bands=["energy"])
    for line, name in zip(axes.lines, ("energy", "max_softmax"), strict=True):
        curve = evaluation.curve(name, "all")
        risk = dict(zip(100 * curve.coverage, 100 * curve.risk, strict=True))
        np.testing.assert_array_equal(line.get_ydata(), [risk[x] for x in line.get_xdata()])
    [shaded] = axes.collections
    band = evaluation.band("energy", "all")
    corners = {tuple(corner) for corner in shaded.get_paths()[0].vertices}
    assert (100 * band.coverage[-1], 100 * band.high[-1]) in corners
    assert (100 * band.coverage[500], 100 * band.low[500]) in corners


def test_a_band_begins_where_it_fits_the_panel_and_is_below_the_curves(evaluation):
    axes = Figure().subplots()
    draw_risk_coverage(axes, evaluation, mix="in", scores=["energy", "max_softmax"], bands=["energy"])
    [shaded] = axes.collections
    corners = shaded.get_paths()[0].vertices
    first = corners[corners[:, 0] == corners[:, 0].min()]
    assert first[:, 1].max() <= axes.get_ylim()[1]
    assert shaded.get_zorder() < min(line.get_zorder() for line in axes.lines)


def test_a_panel_and_its_bands_begin_where_errors_do(evaluation):
    axes = Figure().subplots()
    draw_risk_coverage(axes, evaluation, mix="in", scores=["energy", "max_softmax"], bands=["max_softmax"])
    [shaded] = axes.collections
    band = evaluation.band("max_softmax", "in")
    assert shaded.get_paths()[0].vertices[:, 0].min() >= 100 * band.coverage[np.argmax(band.risk > 0)] > 80
    errors = [
        100 * evaluation.curve(name, "in").coverage[evaluation.curve(name, "in").risk > 0][0]
        for name in ("energy", "max_softmax")
    ]
    assert axes.get_xlim() == (50, 100)
    assert 50 <= min(errors) < 75
    wide = Figure().subplots()
    draw_risk_coverage(wide, evaluation, mix="all", scores=["energy", "max_softmax"])
    assert wide.get_xlim() == (0, 100)


def test_a_classifier_without_errors_has_a_panel_without_bands():
    z = np.random.default_rng(0).normal(size=(200, 3))
    axes = Figure().subplots()
    draw_risk_coverage(axes, evaluate(Outputs(logits=z, labels=z.argmax(1)), scores=["max_softmax"]))
    assert not axes.collections
    assert axes.get_xlim() == (0, 100)


def test_bands_count_an_original_once(evaluation):
    rows = evaluation.outputs.shift != "label"
    confidence, errors = evaluation.confidence["energy"][rows], evaluation.errors[rows]
    expected = risk_band(confidence, errors, ids=evaluation.outputs.ids[rows])
    np.testing.assert_array_equal(evaluation.band("energy", "in+cov").high, expected.high)
    assert (expected.high != risk_band(confidence, errors).high).mean() > 0.9


def test_curves_are_told_apart_by_line_and_marker_and_named_as_people_type(evaluation):
    figure = risk_coverage_figure(evaluation)
    lines = figure.axes[-1].lines
    assert len({line.get_marker() for line in lines}) == 3
    assert {line.get_label(): line.get_linestyle() for line in lines} == {
        r"confidence_margin (RL$_{\text{conf-M}}$)": "-",
        r"max_softmax (SR$_{\text{max}}$)": "-",
        "energy (Energy)": "--",
    }
    words = " ".join(figure.legends[0].get_title().get_text().split())
    assert "each original sample counted once" in words
    assert "dashed: made for OOD detection" in words


def test_a_score_that_is_far_worse_than_none_is_cut_off_above_and_the_figure_says_so():
    rng = np.random.default_rng(0)
    errors = rng.random(1000) < 0.1
    given = {"good": rng.normal(size=1000) - 2 * errors, "bad": rng.normal(size=1000) + 2 * errors}
    outputs = Outputs(logits=np.tile([2.0, 0.0], (1000, 1)), labels=errors.astype(int), confidences=given)
    both, alone = (risk_coverage_figure(evaluate(outputs, scores=names)) for names in (["good", "bad"], ["good"]))
    full = 100 * errors.mean()
    assert both.axes[0].get_ylim()[1] == pytest.approx(2 * full)
    assert alone.axes[0].get_ylim()[1] == pytest.approx(1.1 * full, rel=0.05)
    message = ["Cut off above" in figure.legends[0].get_title().get_text() for figure in (both, alone)]
    assert message == [True, False]


def test_the_figure_says_what_it_leaves_out_and_why(digits):
    bare = Outputs(logits=digits.logits, labels=digits.labels)
    words = risk_coverage_figure(evaluate(bare)).legends[0].get_title().get_text()
    assert "Not drawn" in words
    assert re.search(r"Not\s+computed: .*vim.*, as the outputs have no", words.replace("\n", " "))


def test_histograms_share_out_all_samples(evaluation, point):
    axes = Figure().subplots()
    unknown = evaluation.outputs.labels < 0
    draw_histogram(axes, point.confidence, point.errors, unknown=unknown, threshold=point.value)
    kinds = {"right": ~point.errors, "wrong": point.errors & ~unknown, "unknown class": unknown}
    for line in axes.lines[:3]:
        drawn = line.get_ydata()[::2].sum()
        assert drawn == pytest.approx(100 * kinds[line.get_label()].mean())
    assert axes.lines[3].get_xdata()[0] == point.value
    edges = edges_of(point.confidence)
    inside = (point.confidence > edges[20]) & (point.confidence <= edges[21]) & kinds["right"]
    assert axes.lines[0].get_ydata()[40] == pytest.approx(100 * inside.mean(), abs=0.03)


def test_histograms_of_one_value_and_of_rows_that_are_not_usable_are_drawn():
    axes = Figure().subplots()
    confidence, errors = np.array([1.0, 1.0, -np.inf, np.nan]), np.array([False, True, True, True])
    draw_histogram(axes, confidence, errors, unknown=np.zeros(4, dtype=bool))
    assert [line.get_ydata().max() for line in axes.lines] == [25, 25]


def test_graded_answers_have_no_histogram_of_right_and_wrong_ones():
    rng = np.random.default_rng(0)
    graded = evaluate(Outputs(confidences={"a": rng.random(200)}, losses=rng.random(200)))
    with pytest.raises(CannotDrawError, match="answers have losses between 0 and 1, and are not right or wrong"):
        histogram_figure(graded, point_of_risk(graded, risk=0.6, delta=0.05))


def test_slices_are_those_of_the_metric_and_what_breaks_a_guarantee_is_a_square(evaluation, point):
    figure = slices_figure(evaluation, point, by="group")
    risk, coverage = figure.axes
    samples = evaluation.outputs.samples[0]
    compared = compare_groups(evaluation.outputs.domain, point.accepted, point.errors, ids=samples)
    result = {each.name: each for each in compared.groups}
    names = [tick.get_text() for tick in risk.get_yticklabels()]
    assert sorted(names) == sorted(result)
    for name, in_risk, in_coverage in zip(names, risk.containers, coverage.containers, strict=True):
        each = result[name]
        assert in_risk.lines[0].get_xdata()[0] == 100 * each.risk.value
        assert in_coverage.lines[0].get_xdata()[0] == 100 * each.coverage.value
        low, high = in_risk.lines[2][0].get_segments()[0][:, 0]
        assert (low, high) == pytest.approx((100 * each.risk.low, 100 * each.risk.high))
        assert in_risk.lines[0].get_marker() == ("s" if each.risk.low > point.guaranteed_risk else "o")
    assert names[0] == "8 and 9"


def test_a_slice_of_which_nothing_is_accepted_is_said_to_be_one():
    axes = Figure().subplots()
    draw_shares(axes, [(HOSTILE, None), ("b", ShareEstimate(0.1, 0.0, 0.0, 0.3))], overall=0.1)
    assert axes.texts[0].get_text() == " nothing accepted"
    assert axes.get_yticklabels()[0].get_text() == plain(HOSTILE)


def test_the_matrix_has_every_pair_with_both_signs(evaluation):
    names = ["confidence_margin", "max_softmax", "energy"]
    comparison = compare_all({name: evaluation.confidence[name] for name in names}, evaluation.errors,
                        ids=evaluation.outputs.ids)  # fmt: skip
    axes = significance_figure(evaluation, scores=names).axes[0]
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    colours = axes.images[0].get_array()
    for (a, b), each in comparison.items():
        i, j = names.index(a), names.index(b)
        assert texts[j, i] == f"{100 * each.difference:+.2f}".replace("-", "−")
        assert texts[i, j] == f"{-100 * each.difference:+.2f}".replace("-", "−")
        assert (colours[i, j], colours[j, i]) == ((1 + np.sign(each.difference), 1 - np.sign(each.difference))
                                                  if each.is_significant else (1, 1))  # fmt: skip
    assert axes.images[0].cmap(0)[2] > axes.images[0].cmap(0)[0]  # better is blue
    assert BETTER.startswith("#2a")


def test_pairs_that_are_not_told_apart_are_white():
    axes = Figure().subplots()
    draw_significance(axes, {("a", "b"): ScoreDifference(0.1, 0.2, -0.3, 0.5)}, ["a", "b"])
    assert (axes.images[0].get_array() == 1).all()


def test_guarantees_are_made_on_one_half_and_kept_on_the_other():
    rng = np.random.default_rng(0)
    c = rng.random(1200)
    errors = rng.random(1200) < 0.4 * (1 - c)
    result = kept_guarantees(c, errors, risks=[0.25, 0.15, 0.001])
    assert [each.target for each in result] == [0.15, 0.25]  # the lowest is not achievable
    assert all(each.realised.low <= each.bound <= each.target for each in result)
    assert [each.coverage for each in result] == sorted(each.coverage for each in result)
    assert kept_guarantees(c, errors, risks=[0.15, 0.25]) == result
    assert kept_guarantees(c, errors, risks=[0.15, 0.25], seed=1) != result


def test_broken_guarantees_are_squares_above_the_diagonal():
    axes = Figure().subplots()
    kept = GuaranteeCheck(0.1, 0.1, 0.5, ShareEstimate(0.05, 0.01, 0.03, 0.08))
    broken = GuaranteeCheck(0.1, 0.1, 0.5, ShareEstimate(0.3, 0.02, 0.25, 0.35))
    draw_guarantees(axes, [kept, broken])
    good, bad = axes.containers
    assert (good.lines[0].get_marker(), bad.lines[0].get_marker()) == ("o", "s")
    assert (bad.lines[0].get_xdata()[0], bad.lines[0].get_ydata()[0]) == (10, 30)


def test_no_guarantee_in_reach_is_said():
    outputs = Outputs(confidences={"a": np.linspace(0, 1, 12)}, errors=np.arange(12) % 2 == 0)
    evaluation = evaluate(outputs)
    with pytest.raises(CannotDrawError, match="no risk can be certified on half of the rows"):
        guarantee_figure(evaluation, point_of_risk(evaluation, risk=None, delta=0.05))


def test_all_figures_are_written_in_three_formats_and_told_in_a_line_each(evaluation, point, tmp_path):
    lines = write_figures(evaluation, point, tmp_path / "figures")
    assert [line.partition("{")[0].rpartition("/")[2] for line in lines] == list(FIGURES)
    assert sorted(file.name for file in (tmp_path / "figures").iterdir()) == sorted(
        f"{name}.{ending}" for name in FIGURES for ending in ("png", "svg", "pdf")
    )


@pytest.mark.parametrize("name", ["histogram", "group", "significance", "guarantee"])
def test_figures_come_out_the_same(name, evaluation, point, tmp_path):
    from abstain.report.figures.save import save_figure

    for number in (1, 2):
        save_figure(FIGURES[name][1](evaluation, point), tmp_path / f"{number}.svg")
    assert (tmp_path / "1.svg").read_bytes() == (tmp_path / "2.svg").read_bytes()


def test_what_the_data_do_not_allow_is_told_and_hostile_names_are_drawn_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    outputs = Outputs(confidences={HOSTILE: rng.random(60)}, errors=rng.random(60) < 0.4, domain=[HOSTILE, "b"] * 30)
    evaluation = evaluate(outputs)
    lines = write_figures(evaluation, point_of_risk(evaluation, risk=None, delta=0.05), tmp_path)
    message = {line.partition(":")[0]: line for line in lines}
    assert message["class"].endswith("left out, as the outputs have no labels.")
    assert message["scale"].endswith("left out, as there are no logits.")
    assert message["significance"].endswith("left out, as there is only one score.")
    assert (tmp_path / "group.png").exists()
    handles, labels = risk_coverage_figure(evaluation).axes[0].get_legend_handles_labels()
    assert len(handles) == 1
    assert labels == [plain(HOSTILE)]


def test_figures_of_a_selector_are_at_its_threshold(evaluation):
    selector = calibrate(evaluation.outputs, score="energy", coverage=0.7)
    axes = histogram_figure(evaluation, point_of_selector(evaluation, selector)).axes[0]
    assert axes.get_xlabel() == "energy (Energy)"
    assert axes.lines[-1].get_xdata()[0] == selector.threshold.value


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_named_by_what_people_type_and_its_symbol(name):
    shown = label_of(SCORES[name])
    assert shown.startswith(name)
    assert SCORES[name].symbol.partition("_")[2] in shown
