import numpy as np
import pytest

from abstain.experiments import scnet
from abstain.experiments.experiment import Setting
from abstain.experiments.over_seeds import OverSeeds

pytest.importorskip("torch")


@pytest.mark.usefixtures("image_packages")
def test_the_experiment_runs_to_its_verdicts_and_a_second_call_trains_nothing(tmp_path):
    seen = []
    setting = Setting(folder=tmp_path / "scnet", seeds=2, progress=lambda done, total: seen.append((done, total)))
    found = scnet.run(setting)
    assert [verdict.claim for verdict in found.verdicts] == ["scnet-cifar", "scnet-not-best"]
    assert len(found.tables) == 6
    assert seen[-1] == (2000, 2000)
    assert {row["score"] for row in found.numbers["rows"]} == set(scnet.SCORES)
    again = len(seen)
    assert scnet.run(setting).numbers == found.numbers
    assert len(seen) == again + 2


@pytest.mark.usefixtures("image_packages")
def test_the_long_version_learns_cifar(tmp_path, monkeypatch):
    from dataclasses import replace

    short = scnet.recipe(long=True)
    monkeypatch.setattr(scnet, "recipe", lambda **_: replace(short, options={"narrowest": 2}, epochs=1))
    found = scnet.run(Setting(folder=tmp_path / "scnet", seeds=1, long=True, limit=60))
    assert found.words.startswith("CIFAR-10: trained on 60 images")


def pairs(**special):
    """No difference anywhere but where said."""
    names = list(scnet.SCORES)
    keys = [(a, b, mix, 1.0) for i, a in enumerate(names) for b in names[i + 1 :] for mix in scnet.MIXES]
    made = dict.fromkeys(keys, OverSeeds(0.0, 0.01, 0.01, 5))
    for name, value in special.items():
        a, b = name.split("__")
        made |= {(a, b, mix, 1.0): OverSeeds(value, 0.0001, 0.0001, 5) for mix in scnet.MIXES}
    return made


LEVELS = {(score, mix): 0.1 for score in scnet.SCORES for mix in scnet.MIXES}
BETTER = {f"{a}__{b}": -0.01 for a in (scnet.HEAD, scnet.MARGIN) for b in ("max_softmax", "sirc")}


@pytest.mark.parametrize(
    ("special", "outcome"),
    [
        (BETTER | {"selection_head__confidence_margin": 0.0}, "held"),
        (BETTER, "undecided"),  # head and margin may be alike, but nobody can tell
        (BETTER | {"selection_head__confidence_margin": 0.005}, "held"),  # a twentieth of the area
        (BETTER | {"selection_head__confidence_margin": 0.05}, "not held"),
        (BETTER | {"confidence_margin__max_softmax": 0.01}, "not held"),
        ({}, "undecided"),
    ],
)
def test_comparable_and_better_is_what_the_claim_says(special, outcome):
    assert scnet._comparable(pairs(**special), LEVELS, "data").outcome == outcome


@pytest.mark.parametrize(
    ("special", "outcome"),
    [
        ({"selection_head__sirc": 0.01}, "held"),
        ({}, "undecided"),
        ({f"selection_head__{score}": -0.01 for score in scnet.SCORES if score != scnet.HEAD}, "not held"),
    ],
)
def test_not_always_best_is_what_the_claim_says(special, outcome):
    assert scnet._not_best(pairs(**special), "data").outcome == outcome


def test_areas_agree_with_the_evaluation_by_hand(digits):
    import abstain
    from abstain.outputs import Outputs

    rng = np.random.default_rng(0)
    fields = ("labels", "features", "weight", "bias", "shift", "domain", "ids")
    outputs = Outputs(
        logits=digits.logits,
        given={scnet.HEAD: rng.normal(size=len(digits))},
        **{field: getattr(digits, field) for field in fields},
    )
    evaluation = abstain.evaluate(outputs, scores=list(scnet.SCORES), alphas=scnet.ALPHAS, fitting="paper")
    found = scnet._paired([evaluation], scnet.HEAD, "max_softmax", "in+cov", 0.5)
    rows = [evaluation.row(score, "in+cov", 0.5)["aurc"] for score in (scnet.HEAD, "max_softmax")]
    assert found.mean == pytest.approx(rows[0] - rows[1], rel=1e-9)
