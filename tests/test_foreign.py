import pytest

from abstain import Outputs
from abstain.foreign import foreign, is_meant

RULE = "`x` must work"


def test_an_error_of_others_gets_the_rule_and_one_of_ours_stays():
    with pytest.raises(ValueError, match=r"^`x` must work, got ZeroDivisionError: division by zero.$"), foreign(RULE):
        _ = 1 / 0
    with pytest.raises(ValueError, match=r"^`logits` must have at least 2 columns"), foreign(RULE):
        Outputs(logits=[[1.0]])


def test_what_a_line_runs_into_is_not_meant():
    meant, accident = (lambda: Outputs(logits=[[1.0]])), (lambda: Outputs(logits=[[1.0, 2.0]])._with(None))
    with pytest.raises(ValueError, match="2 columns") as info:
        meant()
    assert is_meant(info.value)
    with pytest.raises(TypeError, match="not subscriptable") as info:
        accident()
    assert not is_meant(info.value)
