from math import exp, inf, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain.answers import first_token_margin, mean_logprob, min_logprob, neg_perplexity, sum_logprob

LOGPROBS = st.lists(st.floats(-50, 0), min_size=1, max_size=8)


@pytest.mark.parametrize("signal", [mean_logprob, min_logprob, sum_logprob, neg_perplexity])
def test_no_tokens_have_no_signal(signal):
    assert isnan(signal([]))


@pytest.mark.parametrize("signal", [mean_logprob, min_logprob, sum_logprob])
def test_the_signal_of_one_token_is_its_logprob(signal):
    assert signal([-0.3]) == -0.3


@given(LOGPROBS)
def test_signals_keep_their_order_of_size(logprobs):
    assert sum_logprob(logprobs) <= min_logprob(logprobs) + 1e-9
    assert min_logprob(logprobs) <= mean_logprob(logprobs) + 1e-9
    assert neg_perplexity(logprobs) == pytest.approx(-exp(-sum(logprobs) / len(logprobs)))


def test_decimal_values_with_one_sum_are_tied():
    assert sum_logprob([-0.1, -0.2]) == sum_logprob([-0.3])
    assert mean_logprob([-0.1, -0.2]) == mean_logprob([-0.15])


@given(LOGPROBS, st.randoms())
def test_the_order_of_tokens_changes_no_bit(logprobs, random):
    shuffled = random.sample(logprobs, len(logprobs))
    for signal in (mean_logprob, min_logprob, sum_logprob, neg_perplexity):
        assert signal(shuffled) == signal(logprobs)


@pytest.mark.parametrize("signal", [mean_logprob, min_logprob, sum_logprob, neg_perplexity])
def test_an_impossible_token_is_the_least_trusted(signal):
    assert signal([-0.1, -inf]) == -inf


def test_a_perplexity_too_large_for_a_double_is_infinite():
    assert neg_perplexity([-9999.0]) == -inf
    assert neg_perplexity([-708.9]) > -inf


def test_the_margin_is_to_the_likeliest_other_token():
    assert first_token_margin(-0.5, [-3.0, -0.5, -2.0]) == 1.5
    assert first_token_margin(-2.0, [-0.5, -2.0]) == -1.5  # a sampled token that is not the likeliest
    assert first_token_margin(-4.0, [-0.5, -2.0]) == -3.5  # nor among those listed


def test_tied_tokens_have_no_margin():
    assert first_token_margin(-0.7, [-0.7, -0.7]) == 0
    assert first_token_margin(-inf, [-inf, -inf]) == 0


def test_a_token_alone_has_no_margin():
    assert isnan(first_token_margin(-0.5, [-0.5]))
    assert isnan(first_token_margin(-0.5, []))
