import json
import re
import zlib
from base64 import b64decode
from time import process_time

import numpy as np
import pytest

from abstain import Outputs, Risk, calibrate, evaluate
from abstain._extras import MissingExtraError
from abstain.evaluation import MIXES
from abstain.evaluation.page import SECTIONS, PageLabels, evaluation_page, page_context
from abstain.evaluation.page.write import section
from abstain.thresholds.binomial import upper_bound

LONG = "x" * 10_000
HOSTILE = [
    "<script>window.bad=1</script>",
    "</script>",
    '" onclick="window.bad=1',
    "'; `$(rm -rf /)`",
    "é漢字🎉\u202e",
    LONG,
]


def data_of(html, name):
    return json.loads(zlib.decompress(b64decode(re.search(rf'id="data-{name}">([^<]*)<', html)[1])))


def ready(page):
    page.wait_for_selector("#explorer-chart svg")
    page.wait_for_selector("#curves-chart svg")
    page.wait_for_function("() => document.getElementById('explorer-accepted').textContent !== ''")
    return page


def slide(page, name, value):
    """Move a slider, and wait for the picture after it."""
    page.evaluate(
        """([name, value]) => { const slider = document.getElementById(name); slider.value = value;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); }""",
        [name, value],
    )


def shown(page, *names):
    return [page.locator(f"#{name}").inner_text() for name in names]


def test_every_section_is_there_in_order(opened, html, evaluation):
    """Those of the registry that there is something for: not that on rows without labels."""
    page = ready(opened(html))
    case = page_context(evaluation, risk=0.1)
    made = {name: section(name, case) for name in SECTIONS}
    titles = page.locator("section > h2").all_inner_texts()
    assert titles == [each.title for each in made.values() if each is not None]
    assert made["unlabelled"] is None
    assert page.locator("nav a").all_inner_texts() == titles


def test_the_decision_is_the_library_s(opened, html, evaluation):
    words = ready(opened(html)).locator("#decision").inner_text()
    threshold = data_of(html, "explorer")["start"]["threshold"]
    accepted = evaluation.confidence["max_softmax"] > threshold
    assert f"above {1 / (1 + np.exp(-threshold)):.4g}," in words
    assert f"above {threshold:.4g}".replace("-", "−") in words
    assert f"{100 * accepted.mean():.2f}%" in words
    assert f"{100 * evaluation.errors[accepted].mean():.2f}%" in words
    assert "at most 10%, with probability at least 95%" in words


@pytest.mark.parametrize("mix", ["all", "in+cov", "in"])
def test_moving_the_threshold_gives_the_numbers_of_the_library(opened, html, evaluation, mix):
    page = ready(opened(html))
    page.select_option("#explorer-mix", mix)
    chosen = MIXES[mix].rows(evaluation.outputs.shift)
    result = data_of(html, "explorer")["scores"][0]
    for path in (0, 1, 77, 500, len(result["thresholds"]) - 1):
        threshold = float(result["thresholds"][path])
        slide(page, "explorer-threshold-slider", path)
        accepted = chosen & (evaluation.confidence["max_softmax"] > threshold)
        n, rows, wrong = chosen.sum(), accepted.sum(), evaluation.errors[accepted].sum()
        assert shown(page, "explorer-accepted", "explorer-rejected", "explorer-selective", "explorer-bound") == [
            f"{100 * (rows / n):.2f}%",
            f"{100 * ((n - rows) / n):.2f}%",
            f"{100 * (wrong / rows):.2f}%" if rows else "–",
            f"{100 * upper_bound(int(wrong), int(rows), 0.05):.2f}%" if rows else "–",
        ]
        assert shown(page, "explorer-accepted-under") == [f"{rows:,} of {n:,} rows"]


def test_domains_and_classes_are_counted_as_the_library_counts(opened, html, evaluation):
    page = ready(opened(html))
    result = data_of(html, "explorer")["scores"][0]
    slide(page, "explorer-threshold-slider", 321)
    accepted = evaluation.confidence["max_softmax"] > float(result["thresholds"][321])
    outputs = evaluation.outputs
    of = {"group": outputs.domain, "predicted": outputs.predictions.astype(str)}
    of["true"] = np.where(outputs.labels < 0, "(a class it does not know)", outputs.labels.astype(str))
    for name, parts in of.items():
        page.select_option("#explorer-parts", name)
        page.wait_for_function(f"() => document.querySelector('#table-{name} td').textContent !== ''")
        for row in page.locator(f"#table-{name} tbody tr").all_inner_texts():
            part, *numbers = row.split("\t")
            inside = parts == part
            rows, wrong = (accepted & inside).sum(), (accepted & inside & evaluation.errors).sum()
            risk = f"{100 * (wrong / rows):.2f}%" if rows else "–"
            share = f"{100 * (rows / inside.sum()):.2f}%"
            assert numbers == [f"{inside.sum():,}", f"{rows:,}", f"{inside.sum() - rows:,}", share, f"{wrong:,}", risk]


def test_a_coverage_and_a_risk_find_their_points(opened, html, evaluation):
    page = ready(opened(html))
    slide(page, "explorer-coverage-slider", 40)
    assert shown(page, "explorer-accepted") == ["40.00%"]
    page.fill("#explorer-risk", "7.5")
    page.press("#explorer-risk", "Enter")
    page.wait_for_function("() => document.getElementById('command-line').textContent.includes('--risk 0.075 ')")
    bound = float(shown(page, "explorer-bound")[0].strip("%"))
    assert bound <= 7.5
    accepted = int(shown(page, "explorer-accepted-under")[0].split()[0].replace(",", ""))
    order = np.argsort(-evaluation.confidence["max_softmax"])
    wrong = np.cumsum(evaluation.errors[order])
    wider = [k for k in range(accepted + 1, 1501) if 100 * upper_bound(int(wrong[k - 1]), k, 0.05) <= 7.495]
    assert not wider


def test_a_day_costs_what_its_rows_cost(opened, html):
    page = ready(opened(html))
    for name, value in (("volume", "3000"), ("cost-rejection", "2"), ("cost-error", "25")):
        page.fill(f"#explorer-{name}", value)
    slide(page, "explorer-threshold-slider", 400)
    accepted, wrong = (
        int(words.split()[0].replace(",", ""))
        for words in shown(page, "explorer-accepted-under", "explorer-selective-under")
    )
    assert shown(page, "daily-accepted", "daily-rejected", "daily-wrong", "daily-cost") == [
        f"{2 * accepted:,}",
        f"{2 * (1500 - accepted):,}",
        f"{2 * wrong:,}",
        f"{2 * (2 * (1500 - accepted) + 25 * wrong):,.2f}",
    ]
    cost = float(shown(page, "daily-cost")[0].replace(",", ""))
    page.click("#explorer-cheapest")
    page.wait_for_timeout(50)
    assert float(shown(page, "daily-cost")[0].replace(",", "")) <= cost
    assert "--cost 0.08 --delta" in page.locator("#command-line").inner_text()


def test_the_table_shows_other_mixes_metrics_and_alphas_and_sorts(opened, html, evaluation):
    page = ready(opened(html))
    cells = page.locator("#scores-table tbody tr")
    for mix, alpha in (("in", 0.1), ("in+cov", 0.5)):
        page.select_option("#scores-mix", mix)
        page.select_option("#scores-alpha", f"{alpha:g}")
        shown = {row.split("\t")[0].split()[0]: row.split("\t")[1] for row in cells.all_inner_texts()}
        assert shown == {row.score: f"{100 * row.aurc:.2f}%" for row in evaluation.column(mix, alpha)}
        areas = [float(area.rstrip("%")) for area in shown.values()]
        assert areas == sorted(areas)
    page.select_option("#scores-metric", "augrc")
    values = {row["score"]: f"{100 * row['value']:.2f}%" for row in evaluation.extra_metrics if row["mix"] == "in+cov"}
    assert {row.split("\t")[0].split()[0]: row.split("\t")[1] for row in cells.all_inner_texts()} == values
    page.get_by_role("button", name="Score", exact=True).click()
    names = [row.split()[0] for row in cells.all_inner_texts()]
    assert names == sorted(evaluation.scores)


def test_curves_follow_the_mix_and_what_is_ticked(opened, html):
    page = ready(opened(html))
    lines = page.locator("#curves-chart .mark-line path")
    assert lines.count() == 4
    before = lines.first.get_attribute("d")
    page.select_option("#curves-mix", "in")
    page.wait_for_function(
        "(before) => document.querySelector('#curves-chart .mark-line path').getAttribute('d') !== before", arg=before
    )
    page.locator("input[name=curve]").first.uncheck()
    page.wait_for_function("() => document.querySelectorAll('#curves-chart .mark-line path').length === 3")


def test_pointing_at_a_curve_tells_its_numbers(opened, html):
    page = ready(opened(html))
    chart = page.locator("#curves-chart svg")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.6 * box["height"], steps=4)
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert re.search(r"coverage \(%\):?\s*\d+\.\d\d", page.locator("#vg-tooltip-element").inner_text())


def test_the_command_is_copied_as_it_is_shown(opened, html):
    page = ready(opened(html, permissions=["clipboard-read", "clipboard-write"]))
    line = "abstain calibrate 'my run/' --score max_softmax --risk 0.1 --delta 0.05 -o selector.abstain"
    assert page.locator("#command-line").inner_text() == line
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == line
    slide(page, "explorer-coverage-slider", 60)
    assert "--coverage 0.6 " in page.locator("#command-line").inner_text()


def test_all_can_be_done_by_keyboard(opened, html):
    page = ready(opened(html))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.focus("#explorer-threshold-slider")
    before = shown(page, "explorer-accepted-under")
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(100)
    assert shown(page, "explorer-accepted-under") != before
    page.evaluate(
        """() => { window.reached = []; addEventListener("focusin", (event) => {
        window.reached.push(event.target.id || event.target.textContent); }); }"""
    )
    page.focus("#scores-mix")
    for _ in range(70):
        page.keyboard.press("Tab")
    reached = set(page.evaluate("window.reached"))
    wanted = {
        "scores-mix",
        "curves-mix",
        "explorer-coverage-slider",
        "explorer-risk",
        "explorer-cheapest",
        "Copy",
        "Standing",
    }
    assert wanted <= reached


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(opened, html, scheme):
    page = ready(opened(html, viewport={"width": 360, "height": 740}, color_scheme=scheme))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    ink, paper = (page.evaluate(f"getComputedStyle(document.body).{each}") for each in ("color", "backgroundColor"))
    bright = [sum(map(int, re.findall(r"\d+", each)[:3])) for each in (ink, paper)]
    assert (bright[0] > bright[1]) == (scheme == "dark")


def test_captions_are_whole_on_a_phone_also_above_tables_that_are_wider(opened, html):
    page = ready(opened(html, viewport={"width": 390, "height": 844}))
    captions = [each for each in page.locator("caption > span").all() if each.is_visible()]
    assert len(captions) > 3
    for caption in captions:
        assert caption.bounding_box()["width"] <= 390 - 32
    assert page.locator("#scores .scroll").evaluate("(one) => one.scrollWidth > one.clientWidth")


def test_hostile_names_are_shown_as_text(opened):
    n = 360
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=n)
    hostile = np.array(HOSTILE)
    outputs = Outputs(
        logits=rng.normal(size=(n, 6)) + 2 * np.eye(6)[labels],
        labels=labels,
        class_names=HOSTILE,
        domain=hostile[rng.integers(6, size=n)],
        ids=np.array([f"{k}{HOSTILE[k % 6]}" for k in range(n)]),
        confidences={name: rng.random(n) for name in HOSTILE},
    )
    html = evaluation_page(page_context(evaluate(outputs), labels=PageLabels(run=HOSTILE[3])))
    page = ready(opened(html, viewport={"width": 390, "height": 800}))
    assert page.evaluate("window.bad") is None
    shown = page.locator("body").inner_text()
    for words in HOSTILE[:4]:
        assert words in shown
    assert LONG not in shown
    assert page.locator("#table-true details > bdi").text_content() == LONG
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "--score" in page.locator("#command-line").inner_text()


@pytest.mark.parametrize("target", [{"risk": 0.12}, {"coverage": 0.6}, Risk(0.2, per="domain")])
def test_the_page_of_a_selector_tells_what_it_does_here(opened, evaluation, target):
    options = target if isinstance(target, dict) else {}
    asked = [] if options else [target]
    selector = calibrate(evaluation.outputs, *asked, score="energy", **options)
    html = evaluation_page(page_context(evaluation, selector=selector))
    page = ready(opened(html))
    accepted = selector.accepts(evaluation.outputs)
    assert f"{accepted.sum():,} of 1,500 rows" in page.locator("#decision").inner_text()
    assert "energy" in page.locator("#decision .decision").inner_text()
    words = page.locator("#decision .note").inner_text()
    assert "the rows it was calibrated on, which cannot test the guarantee" in words
    lines = "abstain certify selector.abstain --on run/\nabstain select selector.abstain run/ -o decisions.csv"
    assert page.locator("#command-line").inner_text() == lines


def test_confidences_alone_have_a_page(opened, tmp_path):
    rng = np.random.default_rng(0)
    confidence = rng.random(300)
    evaluation = evaluate(Outputs(confidences={"vendor": confidence}, errors=rng.random(300) < 0.4 * (1 - confidence)))
    evaluation.to_html(tmp_path / "report.html", labels=PageLabels(run="a.csv"))
    page = ready(opened((tmp_path / "report.html").read_text()))
    assert "no groups or classes" in page.locator("#failures").inner_text()


@pytest.mark.parametrize("wrong", [False, True])
def test_rows_that_are_all_alike_have_a_page(opened, wrong):
    outputs = Outputs(confidences={"a": [0.5] * 30}, errors=[wrong] * 30)
    page = opened(evaluation_page(page_context(evaluate(outputs))))
    page.wait_for_selector("#explorer-chart svg")
    assert "30" in page.locator("#decision").inner_text()


def test_domains_that_fail_are_named():
    rng = np.random.default_rng(0)
    bad = rng.random(4000) < 0.1
    outputs = Outputs(
        confidences={"a": rng.random(4000)},
        errors=rng.random(4000) < np.where(bad, 0.4, 0.02),
        domain=np.where(bad, "Ωlm", "rest"),
    )
    html = evaluation_page(page_context(evaluate(outputs), risk=0.1))
    failed = html[html.index('id="failures"') : html.index('id="groups"')]
    assert "<bdi>Ωlm</bdi>" in failed
    assert "<bdi>rest</bdi>" not in failed


def test_the_same_evaluation_gives_the_same_bytes(evaluation, html):
    assert evaluation_page(page_context(evaluation, risk=0.1, labels=PageLabels(run="my run/"))) == html


def test_a_risk_that_all_rows_keep_needs_no_threshold(evaluation):
    html = evaluation_page(page_context(evaluation, risk=0.4))
    assert "Accept every answer: 16.8% is wrong" in html


def test_a_function_of_one_s_own_is_said_to_have_no_command(evaluation):
    def mine(outputs):
        return outputs.logits.max(axis=1)

    html = evaluation_page(page_context(evaluate(evaluation.outputs, scores=[mine]), risk=0.2))
    assert "which no command line can name" in html


def test_clusters_are_said_to_be_counted_once(evaluation):
    twice = Outputs.concat([evaluation.outputs, evaluation.outputs])
    html = evaluation_page(page_context(evaluate(twice, scores=["energy"]), risk=0.2))
    assert "Korn and Graubard" in html
    assert "which is an approximation" in html


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"risk": 2.0}, "`risk` must be between 0 and 1, got 2.0"),
        ({"delta": 0.0}, "`delta` must be between 0 and 1, got 0.0"),
    ],
)
def test_bad_targets_are_refused(evaluation, tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        evaluation.to_html(tmp_path / "a.html", **options)
    assert not any(tmp_path.iterdir())


def test_a_selector_has_a_target_of_its_own(evaluation, tmp_path):
    selector = calibrate(evaluation.outputs, score="energy", risk=0.2)
    with pytest.raises(ValueError, match="`risk` must be left out with a `selector`"):
        evaluation.to_html(tmp_path / "a.html", selector=selector, risk=0.1)


def test_a_missing_extra_is_named_with_its_line(evaluation, tmp_path, monkeypatch):
    monkeypatch.setattr("abstain._extras.find_spec", lambda _: None)
    with pytest.raises(
        MissingExtraError, match=r"needs altair, jinja2 and vl_convert. Install with: .*pip install .*\[report\]"
    ):
        evaluation.to_html(tmp_path / "a.html")


def test_a_hundred_thousand_rows_fit_into_three_megabytes(monkeypatch):
    monkeypatch.setattr("abstain.evaluation.operating_point.MANY", 1)  # the size does not hang on the rule
    rng = np.random.default_rng(0)
    n, classes = 100_000, 64
    labels = rng.integers(classes, size=n)
    outputs = Outputs(
        confidences={"a": rng.random(n), "b": rng.random(n)},
        logits=rng.normal(size=(n, classes)).astype(np.float32) + 3 * np.eye(classes, dtype=np.float32)[labels],
        labels=labels,
        domain=rng.integers(300, size=n).astype(str),
        shift=rng.choice(["none", "covariate"], size=n),
    )
    evaluation = evaluate(outputs, scores=["a", "b", "energy"])
    assert len(evaluation_page(page_context(evaluation, risk=0.7)).encode()) < 3_000_000


@pytest.mark.thorough
def test_a_million_rows_are_written_soon_and_move_smoothly(chromium, tmp_path):
    rng = np.random.default_rng(0)
    n = 1_000_000
    labels = rng.integers(10, size=n)
    logits = (rng.normal(size=(n, 10)) + 3 * np.eye(10)[labels]).astype(np.float32)
    outputs = Outputs(logits=logits, labels=labels, domain=rng.integers(20, size=n).astype(str), ids=np.arange(n))
    evaluation = evaluate(outputs, scores=["max_softmax", "confidence_margin", "energy", "max_logit"])
    begun = process_time()
    evaluation.to_html(tmp_path / "page.html", risk=0.05)
    assert process_time() - begun < 20
    page = chromium.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    ready(page)
    moves = page.evaluate(MOVES)
    before = seconds_at_work(page)
    page.evaluate(MOVES)
    assert (seconds_at_work(page) - before) / moves < 0.05
    page.close()


def seconds_at_work(page):
    """Of the page's own thread, whatever else the machine does."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return next(
        each["value"] for each in session.send("Performance.getMetrics")["metrics"] if each["name"] == "TaskDuration"
    )


MOVES = """async () => {
  const slider = document.getElementById("explorer-threshold-slider");
  let moves = 0;
  for (let place = 0; place < Number(slider.max); place += 20) {
    slider.value = place;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    moves += 1;
  }
  return moves;
}"""


def test_a_control_with_one_choice_is_not_shown(opened, html):
    rng = np.random.default_rng(0)
    confidence = rng.random(400)
    single = evaluate(Outputs(confidences={"a": confidence}, errors=rng.random(400) > confidence), alphas=[1.0])
    controls = ["scores-mix", "scores-metric", "scores-alpha", "curves-mix", "explorer-score", "explorer-mix"]
    page = opened(evaluation_page(page_context(single)))
    assert not any(page.is_visible(f"#{name}") for name in controls)
    assert not page.is_visible("input[name=curve]")
    assert page.is_visible("#explorer-reset")
    assert page.inner_text("header").count("1 confidence score") == 1
    page = opened(html)
    assert all(page.is_visible(f"#{name}") for name in controls)
    assert page.is_visible("input[name=curve]")
