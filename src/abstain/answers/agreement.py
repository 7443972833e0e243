"""The agreement of samples with an answer."""

from collections.abc import Callable, Sequence
from math import nan
from operator import eq

from abstain.answers.normal_form import normal_form

Same = Callable[[str, str], bool]
Normalize = Callable[[str], str]


def agreement(
    answer: str, samples: Sequence[str], /, *, normalize: Normalize = normal_form, equivalent: Same = eq
) -> float:
    """The share of further samples that agree with the answer.

    Parameters
    ----------
    answer : str
        The answer that is given.
    samples : sequence of str
        Further answers to the same question, usually drawn at temperature 1.
    normalize : callable
        Applied to every answer first; ``str`` leaves them as they are.
    equivalent : callable
        Whether two normalized answers mean the same.

    Returns
    -------
    float
        From 0 to 1; NaN without samples.

    Examples
    --------
    >>> agreement("Paris", ["paris.", "Paris", "Lyon", "PARIS"])
    0.75
    """
    if not samples:
        return nan
    reference = normalize(answer)
    return sum(bool(equivalent(reference, normalize(sample))) for sample in samples) / len(samples)
