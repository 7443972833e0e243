"""Against the code of lm-polygraph and uqlm: `scripts/test -m thorough tests/answers/test_peers.py` installs both.

They go into a scratch folder without what they require, since uqlm wants NumPy below 2; a package without its
`__init__` takes the place of each, so that only the modules named here are imported.
"""

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

from abstain import Outputs
from abstain.metrics import auarc, prediction_rejection_ratio

pytestmark = pytest.mark.thorough
PACKAGES = ("lm-polygraph==0.7.0", "uqlm==0.6.7")


@pytest.fixture(scope="module", autouse=True)
def peers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("peers")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(folder), *PACKAGES], check=True)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("lm_polygraph", "lm_polygraph.ue_metrics", "uqlm", "uqlm.utils"):
            package = ModuleType(name)
            package.__path__ = [str(folder.joinpath(*name.split(".")))]
            patch.setitem(sys.modules, name, package)
        yield


@pytest.mark.parametrize("max_rejection", [1.0, 0.5, 0.3])
def test_the_rejection_ratio_is_that_of_lm_polygraph(max_rejection):
    area = import_module("lm_polygraph.ue_metrics.pred_rej_area").PredictionRejectionArea(max_rejection)
    rng = np.random.default_rng(1)
    losses = rng.permutation(61) / 60  # from 0 to 1, as it normalizes them, and without ties
    confidence = rng.normal(size=61) - losses
    own, best = area(-confidence, 1 - losses), area(losses, 1 - losses)
    random = np.mean(1 - losses)
    ratio = prediction_rejection_ratio(confidence, losses, max_rejection=max_rejection)
    assert ratio == pytest.approx((own - random) / (best - random))


def test_the_area_under_accuracy_is_one_less_that_under_risk():
    curve = import_module("lm_polygraph.ue_metrics.risk_cov_curve").RiskCoverageCurveAUC()
    rng = np.random.default_rng(2)
    losses, confidence = rng.permutation(50) / 49, rng.normal(size=50)
    assert auarc(confidence, losses) == pytest.approx(1 - curve(-confidence, 1 - losses))


def test_a_result_of_uqlm_is_read_as_it_is(tmp_path):
    results = import_module("uqlm.utils.results")
    data = {
        "prompts": ["?", "?"],
        "responses": ["a", "b"],
        "sampled_responses": [["a"], ["c"]],
        "exact_match": [1.0, 0.0],
    }
    results.UQResult({"data": data}).to_df().to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    outputs = Outputs.load(tmp_path / "t.jsonl")
    assert outputs.confidence("confidence_exact_match").tolist() == outputs.confidence("agreement").tolist() == [1, 0]
