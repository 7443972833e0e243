"""Signals from the log-probabilities of the tokens of an answer; NaN where there are none."""

from collections.abc import Sequence
from math import exp, fsum, inf, isnan, nan

LARGEST_EXPONENT = 709.0  # of what a double holds
DIGITS = 14  # so that decimal values with one sum are tied: −0.1 − 0.2 and −0.3


def mean_logprob(logprobs: Sequence[float], /) -> float:
    """Mean log-probability of the tokens, which long answers do not lower.

    Parameters
    ----------
    logprobs : sequence of float
        Natural logs, none above 0; −inf is a token of probability 0.

    Returns
    -------
    float
        NaN without tokens.

    Examples
    --------
    >>> mean_logprob([-0.5, -1.5])
    -1.0
    """
    return _rounded(fsum(logprobs) / len(logprobs)) if logprobs else nan


def min_logprob(logprobs: Sequence[float], /) -> float:
    """Log-probability of the least likely token: one doubtful word spoils an answer.

    Parameters
    ----------
    logprobs : sequence of float
        Natural logs, none above 0.

    Returns
    -------
    float
        NaN without tokens.

    Examples
    --------
    >>> min_logprob([-0.5, -1.5])
    -1.5
    """
    return min(logprobs, default=nan)


def sum_logprob(logprobs: Sequence[float], /) -> float:
    """Log-probability of the whole answer, the maximum sequence probability of the literature.

    Parameters
    ----------
    logprobs : sequence of float
        Natural logs, none above 0.

    Returns
    -------
    float
        NaN without tokens.

    Examples
    --------
    >>> sum_logprob([-0.5, -1.5])
    -2.0
    """
    return _rounded(fsum(logprobs)) if logprobs else nan


def neg_perplexity(logprobs: Sequence[float], /) -> float:
    """Negative perplexity, −exp(−mean log-probability), which ranks like `mean_logprob`.

    Parameters
    ----------
    logprobs : sequence of float
        Natural logs, none above 0.

    Returns
    -------
    float
        At most −1; NaN without tokens.

    Examples
    --------
    >>> neg_perplexity([0.0, 0.0])
    -1.0
    """
    mean = mean_logprob(logprobs)
    return mean if isnan(mean) else -(exp(-mean) if -mean < LARGEST_EXPONENT else inf)


def first_token_margin(logprob: float, top_logprobs: Sequence[float], /) -> float:
    """How much more likely the first token is than the likeliest other: a difference of log-probabilities.

    It is negative where a sampled token is not the likeliest.

    Parameters
    ----------
    logprob : float
        That of the first token of the answer.
    top_logprobs : sequence of float
        Those of the likeliest tokens in its position, in any order, with or without the token itself.

    Returns
    -------
    float
        NaN without another token.

    Examples
    --------
    >>> first_token_margin(-0.5, [-0.5, -2.0, -3.0])
    1.5
    """
    others = list(top_logprobs)
    if logprob in others:
        others.remove(logprob)
    best = max(others, default=nan)
    return 0.0 if logprob == best else logprob - best


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
