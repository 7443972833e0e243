from abstain import evaluate
from abstain.evaluation.operating_point import point_of_risk
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.page.curves import COLOURS, DASHED, MOST, curves


def test_dashed_are_the_scores_made_for_ood_detection_and_no_colour_is_used_twice(evaluation):
    every = evaluate(evaluation.outputs)
    section = curves(PageContext(every, point_of_risk(every, risk=0.1, delta=0.05), 0.05))
    encoding = section.data["spec"]["layer"][0]["encoding"]
    dash = dict(zip(section.data["names"], encoding["strokeDash"]["scale"]["range"], strict=True))
    assert {name for name, each in dash.items() if each == DASHED} == {
        name for name in dash if every.entries[name].about.for_ood
    }
    assert DASHED in dash.values()
    assert len(set(encoding["color"]["scale"]["range"])) == len(dash)
    assert "Solid: made for selection; dashed: made for OOD detection." in section.html


def test_there_is_a_colour_for_every_curve():
    assert len(set(COLOURS)) == MOST
