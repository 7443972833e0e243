"""Discrete semantic entropy: how answers to the same question spread over meanings."""

from collections.abc import Sequence
from math import fsum, log, nan
from operator import eq

from abstain.answers.agreement import Normalize, Same
from abstain.answers.normal_form import normal_form


def clusters(answers: Sequence[str], /, *, normalize: Normalize = normal_form, equivalent: Same = eq) -> list[int]:
    """The number of the meaning of each answer: an answer joins the first cluster whose first member is equivalent.

    Parameters
    ----------
    answers : sequence of str
        Answers to the same question.
    normalize : callable
        Applied to every answer first.
    equivalent : callable
        Whether two normalized answers mean the same. Where it is not transitive, the order of answers matters.

    Returns
    -------
    list of int
        From 0 on, in the order in which meanings first occur.

    Examples
    --------
    >>> clusters(["Paris", "Lyon", "paris"])
    [0, 1, 0]
    """
    firsts: list[str] = []
    numbers = []
    for text in map(normalize, answers):
        number = next((k for k, first in enumerate(firsts) if equivalent(first, text)), len(firsts))
        if number == len(firsts):
            firsts.append(text)
        numbers.append(number)
    return numbers


def neg_semantic_entropy(
    answers: Sequence[str], /, *, normalize: Normalize = normal_form, equivalent: Same = eq
) -> float:
    r"""Negative entropy :math:`\sum_c p_c \log p_c` of the shares of meanings among answers to the same question.

    It needs no probabilities of the model (Farquhar et al., 2024, call it discrete). `signals` counts the answer as one
    of the samples.

    Parameters
    ----------
    answers : sequence of str
        At least two.
    normalize : callable
        Applied to every answer first.
    equivalent : callable
        Whether two normalized answers mean the same, such as by a model of entailment; see `clusters`.

    Returns
    -------
    float
        0 where all agree, −log n where all n differ; NaN for fewer than two answers.

    References
    ----------
    Farquhar et al., "Detecting hallucinations in large language models using semantic entropy", Nature, 2024.

    Examples
    --------
    >>> neg_semantic_entropy(["Paris", "paris"])
    0.0
    """
    if len(answers) < 2:
        return nan
    numbers = clusters(answers, normalize=normalize, equivalent=equivalent)
    shares = [numbers.count(number) / len(numbers) for number in range(max(numbers) + 1)]
    return fsum(share * log(share) for share in sorted(shares))
