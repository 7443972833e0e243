"""Figures and tables are written whole, and come out the same."""

import subprocess
import sys

import pytest

from abstain import evaluate
from abstain.cli.app import app
from abstain.evaluation.figures.risk_coverage import risk_coverage_figure
from abstain.report.figures.save import METADATA, save_figure

DRAW = """
import sys
from pathlib import Path
from abstain.thresholds.plan_figure import plan_figure
from abstain.report.figures.save import save_figure
for ending in ("png", "svg", "pdf"):
    figure = plan_figure(risk=0.05, delta=0.05, coverage=0.6)
    save_figure(figure, Path(f"{sys.argv[1]}.{ending}"))
"""


def test_the_same_figure_is_the_same_bytes_from_run_to_run(tmp_path, monkeypatch):
    for name, zone in (("one", "UTC"), ("two", "Asia/Tokyo")):
        monkeypatch.setenv("TZ", zone)
        monkeypatch.setenv("PYTHONHASHSEED", "1" if name == "one" else "2")
        subprocess.run([sys.executable, "-c", DRAW, tmp_path / name], check=True)
    for ending in METADATA:
        single, two = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("one", "two"))
        assert single == two


@pytest.mark.parametrize("ending", METADATA)
def test_the_curves_are_the_same_when_drawn_again_and_a_failure_leaves_the_old_file(ending, digits, tmp_path):
    evaluation = evaluate(digits, scores=["max_softmax", "confidence_margin"])
    files = [tmp_path / f"{number}{ending}" for number in (1, 2)]
    for file in files:
        save_figure(risk_coverage_figure(evaluation), file)
    before = files[0].read_bytes()
    assert before == files[1].read_bytes()

    class Fails:
        def savefig(self, file, **_):
            file.write(b"half")
            raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        save_figure(Fails(), files[0])
    assert files[0].read_bytes() == before
    assert sorted(tmp_path.iterdir()) == files


def test_places_that_cannot_be_are_named_before_anything_is_computed(tmp_path):
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, ["evaluate", "no-such-run", "--figure", "rc.gif"])
    assert str(result.exception) == "`--figure` must end in .png, .svg or .pdf, got rc.gif."
    with pytest.raises(FileNotFoundError, match=r"rc.png` must be in a folder that exists, got none. Make .*nowhere"):
        save_figure(None, tmp_path / "nowhere" / "rc.png")
