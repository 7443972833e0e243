"""`AuditedDecisions`: decisions of which a random share of the accepted has a label."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._errors import InvalidInputError
from abstain.metrics.groups import are_errors
from abstain.selector.review_plan import AUDIT
from abstain.thresholds.sample import range_words

COLUMNS = ("accepted", "review", "inclusion")
"""Columns by which a table of decisions with an audit is known."""
Mask = NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class AuditedDecisions:
    """A batch of decisions with the labels of its audit; other labels are not used.

    Each accepted row was drawn with the same probability, whatever its answer was: so the drawn rows are to the
    accepted ones as a random sample is. Labels that came for other reasons, such as complaints or reviews of rejected
    rows, would mislead.

    Attributes
    ----------
    ids, confidence, accepted : (n,) arrays
        Of all rows.
    audited : (n,) array
        The accepted rows that were drawn.
    errors : (n,) array
        Whether the answer was wrong, or its loss, for audited rows; 0 for others.
    """

    ids: NDArray[Any]
    confidence: NDArray[np.float64]
    accepted: Mask
    audited: Mask
    errors: NDArray[Any]

    @classmethod
    def of(
        cls,
        ids: NDArray[Any],
        confidence: ArrayLike,
        accepted: ArrayLike,
        review: ArrayLike,
        inclusion: ArrayLike,
        errors: ArrayLike,
        /,
    ) -> Self:
        """From the columns of a table; an error is NaN where it is not known.

        Raises
        ------
        InvalidInputError
            If no row was audited, an audited row has no label, or accepted rows had different probabilities.
        """
        taken, marks = np.asarray(accepted, dtype=bool), np.asarray(review)
        wrong, chances = as_doubles("errors", errors), as_doubles("inclusion", inclusion)
        audited = taken & (marks == AUDIT)
        if not audited.any():
            raise InvalidInputError(
                "`review` must mark audited rows, got none. Draw some with `abstain select --audit`."
            )
        if len(shares := np.unique(chances[taken])) > 1:
            raise InvalidInputError(
                f"`inclusion` must be the same for all accepted rows, got {len(shares)} probabilities. Use the files "
                "of each probability alone."
            )
        if not ((wrong >= 0) & (wrong <= 1) | np.isnan(wrong)).all():
            raise InvalidInputError(f"`loss` must be from 0 to 1, got {range_words(wrong[~np.isnan(wrong)])}.")
        if missing := int(np.count_nonzero(np.isnan(wrong[audited]))):
            raise InvalidInputError(
                f"`error` must be known for every audited row, got none for {missing} of {np.count_nonzero(audited)}. "
                "Label them: those that are left out may be the wrong ones."
            )
        known = np.where(audited, wrong, 0.0)
        return cls(
            ids=np.asarray(ids),
            confidence=as_doubles("confidence", confidence),
            accepted=taken,
            audited=audited,
            errors=known == 1 if are_errors(known) else known,
        )
