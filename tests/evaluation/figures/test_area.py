import numpy as np
import pytest

pytest.importorskip("matplotlib")

from abstain.evaluation.figures.risk_coverage import area_figure
from abstain.metrics import aurc


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
def test_the_blue_area_over_alpha_is_the_metric(alpha):
    rng = np.random.default_rng(0)
    confidence = rng.random(5000)
    errors = rng.random(5000) < 0.4 * (1 - confidence)
    (axes,) = area_figure(confidence, errors, alpha=alpha).axes
    ((path,),) = [collection.get_paths() for collection in axes.collections]
    x, y = path.vertices.T
    area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2  # of a polygon, in percent squared
    assert area / 100**2 / alpha == pytest.approx(aurc(confidence, errors, alpha=alpha), abs=2e-4)
    assert f"{100 * aurc(confidence, errors, alpha=alpha):.2f}%" in axes.texts[0].get_text()
    assert x.max() == pytest.approx(100 * alpha)
