"""Whether a classifier is wrong more often than by guessing, as it is where labels or errors are mixed up."""

import numpy as np

from abstain.outputs import Outputs

BY_CHANCE = 1e-3  # how likely it may be that guessing is as often wrong


def suspicion_of(outputs: Outputs, /) -> str:
    """What to check first, about the in-distribution rows, or all if there is none; unknown classes do not count.

    >>> labels = np.arange(300) % 3
    >>> suspicion_of(Outputs(logits=9 * np.eye(3)[labels], labels=(labels + 1) % 3))[:52]
    '100.0% of the rows are wrong, more than by guessing:'
    """
    if outputs.is_graded:
        return ""
    known = outputs.usable if outputs.labels is None else outputs.usable & (outputs.labels >= 0)
    inside = known & (outputs.shift == "none")
    rows = inside if inside.any() else known
    number = outputs.samples[0][rows]
    return suspicion(
        int(np.count_nonzero(outputs.errors[rows])),
        len(number),
        samples=len(np.unique(number)) if outputs.clusters is not None else len(number),
        classes=outputs.n_classes,
    )


def suspicion(errors: int, n: int, /, *, samples: int, classes: int) -> str:
    """Words where errors are above 1 − 1/K by more than chance, 1/2 where K is not known (0), and "" elsewhere.

    The test is the exact binomial one, as if each sample were one row that is wrong as often as rows are.
    """
    guessed = 1 / max(classes, 2)
    if n - errors >= guessed * n:
        return ""
    from abstain.thresholds.binomial import binomial_p  # needs SciPy, which takes long to import

    if binomial_p(np.ceil(samples * (n - errors) / n), samples, guessed) >= BY_CHANCE:
        return ""
    if not classes:
        return f"{errors / n:.1%} of the answers are wrong: check that the column `correct` does not hold errors."
    return (
        f"{errors / n:.1%} of the rows are wrong, more than by guessing: check that the classes are in the order of "
        "the classifier, and that a column `correct` does not hold errors."
    )
