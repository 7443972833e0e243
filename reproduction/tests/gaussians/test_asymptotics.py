import mpmath
import pytest

from abstain_reproduction.gaussians.asymptotics import ratios

LOGITS = [1.06, 0.35, -0.35, -1.06]


@pytest.mark.parametrize("scale", [3.0, 50.0, 400.0])
def test_ratios_are_those_of_exact_arithmetic(scale):
    with mpmath.workdps(1000):
        z = [mpmath.mpf(scale) * mpmath.mpf(value) for value in LOGITS]
        total = sum(mpmath.exp(value) for value in z)
        p = [mpmath.exp(value) / total for value in z]
        small = mpmath.exp(z[1] - z[0])
        expected = {
            "max_softmax": (1 - p[0]) / (1 - mpmath.exp(-small)),
            "doctor": (1 - 1 / sum(value**2 for value in p)) / (1 - mpmath.exp(2 * small)),
            "neg_entropy": sum(value * mpmath.log(value) for value in p) / -small,
        }
        expected["corrected"] = expected["neg_entropy"] / (1 + z[0] - z[1])
    computed = ratios(LOGITS, scale=scale)
    for name, value in expected.items():
        assert getattr(computed, name) == pytest.approx(float(value), rel=1e-9)
    assert computed.scaled_margin == pytest.approx(scale * 0.71)
