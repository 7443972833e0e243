"""The authors' conventions against a plain transcription of each."""

import numpy as np
import pytest

import abstain
from abstain.outputs import Outputs
from abstain_reproduction.paper.paper_code import paper_code_areas


@pytest.fixture(scope="module")
def outputs():
    rng = np.random.default_rng(0)
    n, k, d = 600, 30, 70  # 5 × 30 rows to fit on: more than the 64 dimensions of the code
    weight, bias = rng.normal(size=(k, d)) * rng.uniform(0.05, 0.1, size=(k, 1)), rng.normal(size=k)
    labels = rng.integers(k, size=n)
    features = rng.normal(size=(n, d)) + 5 * weight[labels]
    shift = np.repeat(["none", "covariate", "label"], [400, 100, 100])
    labels = np.where(shift == "label", -1, labels)
    return Outputs(
        logits=features @ weight.T + bias, labels=labels, features=features, weight=weight, bias=bias, shift=shift
    )


def area(confidence, errors, alpha):
    """Walk down the coverages, the risk over one more than are left but for the first."""
    order = np.argsort(confidence, kind="stable")
    left, n = errors[order].sum(), len(errors)
    risks = [left / n]
    for i in range(n - 1):
        left -= errors[order[i]]
        risks.append(left / (n - i))
    return np.mean(risks[-int(alpha * n) :])


def test_the_margin_and_the_areas_are_those_of_the_code(outputs):
    areas = paper_code_areas(outputs, seed=0)
    top = np.sort(outputs.logits, axis=1)
    for alpha in (0.1, 0.5, 1.0):
        expected = area(top[:, -1] - top[:, -2], outputs.errors, alpha)
        assert areas["confidence_margin", "all", alpha] == pytest.approx(expected)


def test_the_geometric_margin_judges_the_class_of_the_largest_distance(outputs):
    norms = np.linalg.norm(np.column_stack([outputs.weight, outputs.bias]), axis=1)
    distances = outputs.logits / norms
    inside = outputs.shift == "none"
    errors = distances.argmax(axis=1) != outputs.labels
    assert (errors != outputs.errors)[inside].any()
    top = np.sort(distances, axis=1)
    expected = area((top[:, -1] - top[:, -2])[inside], errors[inside], 1.0)
    assert paper_code_areas(outputs, seed=0)["geometric_margin", "in", 1.0] == pytest.approx(expected)


def test_softmax_in_float32_ties_what_is_certain():
    rng = np.random.default_rng(1)
    logits = np.column_stack([40 + rng.random(300), np.zeros(300), np.zeros(300)])
    labels = np.where(rng.random(300) < 0.2, 1, 0)
    areas = paper_code_areas(Outputs(logits=logits, labels=labels), seed=0)
    tied = abstain.metrics.aurc(np.zeros(300), labels == 1, convention="paper_code")
    assert areas["max_softmax", "in", 1.0] == areas["doctor", "in", 1.0] == tied
    assert areas["confidence_margin", "in", 1.0] != tied


def test_sirc_takes_its_constants_from_the_rows_of_each_mix(outputs):
    from abstain.scores import Residual
    from abstain.scores.fitting_draw import rows_per_class

    residual = Residual(64).fit(outputs.select(rows_per_class(outputs, seed=0)[0]))(outputs)
    logits = outputs.logits.astype(np.float32)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = (p / p.sum(axis=1, keepdims=True)).max(axis=1)
    areas = paper_code_areas(outputs, seed=0)
    for mix, kinds in (("in", ["none"]), ("all", ["none", "covariate", "label"])):
        rows = np.isin(outputs.shift, kinds)
        s = residual[rows]
        a, b = s.mean() - 3 * s.std(), 1 / (s.std() + 1e-12)
        confidence = -np.log(1 - p[rows]) - np.log1p(np.exp(-b * (s - a)))
        assert areas["sirc", mix, 0.5] == pytest.approx(area(confidence, outputs.errors[rows], 0.5), abs=2e-3)


def test_all_ten_scores_are_there_and_logits_alone_give_six(outputs):
    assert len({key[0] for key in paper_code_areas(outputs, seed=0)}) == 10
    alone = Outputs(logits=outputs.logits, labels=outputs.labels)
    assert len({key[0] for key in paper_code_areas(alone, seed=0)}) == 6
