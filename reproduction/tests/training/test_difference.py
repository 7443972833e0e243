import pytest

from abstain_reproduction.training.seed_interval import seed_interval

pytest.importorskip("matplotlib")

from abstain_reproduction.training.difference import difference_figure


def test_every_mix_is_a_panel_and_every_name_a_line():
    gain, loss = seed_interval([-0.01, -0.02, -0.015]), seed_interval([0.03, 0.01, 0.02])
    panels = {mix: {"hinge": {"A": gain, "B": loss}, "other": {"A": loss, "B": gain}} for mix in ("in", "all")}
    figure = difference_figure(panels, against="cross-entropy")
    assert [axes.get_title() for axes in figure.axes] == ["in", "all"]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["hinge", "other"]
    first = figure.axes[0].containers[0]
    assert first.get_label() == "A"
    assert first.lines[0].get_xdata() == pytest.approx([-1.5, 2.0])
