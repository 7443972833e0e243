"""`Evaluation`: the result of comparing scores, with all that reports need."""

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import as_path
from abstain._cached_property import cached_property
from abstain._errors import MissingExtraError
from abstain._extras import require
from abstain._text import counted
from abstain.evaluation.learned_gain import Learning, learning
from abstain.evaluation.mixes import MIXES
from abstain.evaluation.score_table import ScoreTable
from abstain.metrics import RiskBand, RiskCoverage, risk_band, risk_coverage
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs

if TYPE_CHECKING:
    from abstain.evaluation.page import PageLabels
    from abstain.monitor import RiskEstimate
    from abstain.selector import Selector

TABLE = (
    "score", "symbol", "mix", "metric", "alpha", "value", "se", "low", "high", "n", "errors", "best", "tied",
)  # fmt: skip


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation(ScoreTable):
    """The result of `evaluate`: a table of AURC-α, with the rows that it was made from.

    ``rows`` is the table as plain data, ``verdict`` the score to use and why, ``to_html(file)`` writes a page.

    Attributes
    ----------
    confidence : dict of array
        (n,) by score; NaN where a row is non-finite.
    outputs : Outputs
        The rows that were evaluated: those that no score was fitted on.
    given : Outputs
        All rows, with those that scores were fitted on.
    indices : array of int or None
        (n,) the indices of the rows evaluated among those given; None where they are all of them.
    seed : int
        Of the draw of rows to fit on.
    """

    confidence: dict[str, NDArray[np.float64]]
    outputs: Outputs
    given: Outputs
    indices: NDArray[np.int64] | None = None
    seed: int = 0

    def __repr__(self) -> str:
        best = self.best(self.mixes[-1], max(self.alphas))
        return (
            f"<Evaluation of {counted(len(self.scores), 'score')} on {self.n} rows, mixes {', '.join(self.mixes)}; "
            f"best over {best.mix}: {best.score}, AURC {best.aurc:.4g}>"
        )

    def _repr_html_(self) -> str | None:
        """The table for notebooks; without Jinja2 there is none, and they show the text."""
        from abstain.evaluation.summary import summary_of_table
        from abstain.report.page import render

        try:
            return render("summary.html", summary=summary_of_table(self))
        except MissingExtraError:
            return None

    @property
    def errors(self) -> NDArray[np.bool_]:
        """(n,) where the prediction was wrong; an error where answers are graded."""
        return self.outputs.errors

    @property
    def outcomes(self) -> NDArray[Any]:
        """(n,) where the prediction was wrong, or the losses of graded answers."""
        return self.outputs.outcomes

    def ranked_rows(self, score: str, mix: str) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[np.int64] | None]:
        """Confidence, outcome and cluster of the rows of a mix; a non-finite row is below all others."""
        chosen, clusters = MIXES[mix].rows(self.outputs.shift), self.outputs.clusters
        confidence = rejected_last(self.confidence[score][chosen])
        return confidence, self.outcomes[chosen], None if clusters is None else clusters[chosen]

    def curve(self, score: str, mix: str) -> RiskCoverage:
        """The risk–coverage curve of a score on a mix."""
        confidence, outcomes, _ = self.ranked_rows(score, mix)
        return risk_coverage(confidence, outcomes)

    def band(self, score: str, mix: str) -> RiskBand:
        """How sure the points of that curve are, pointwise, each original sample counted once."""
        confidence, outcomes, clusters = self.ranked_rows(score, mix)
        return risk_band(confidence, outcomes, ids=clusters, level=self.level)

    def learning(self, score: str, mix: str, alpha: float) -> Learning | None:
        """What a learned score would gain over this one; None where that is not significant or one is compared."""
        if any(entry.fits_on_shifted for entry in self.entries.values()):
            return None
        asked = score, mix, alpha
        if asked not in self._learned:
            self._learned[asked] = learning(
                self.confidence, self.outputs, score=score, mix=MIXES[mix], alpha=alpha, level=self.level
            )
        return self._learned[asked]

    @cached_property
    def _learned(self) -> dict[tuple[str, str, float], Learning | None]:
        """Cached, as the fit takes a while and every rendering asks for it."""
        return {}

    def table(self) -> list[dict[str, Any]]:
        """AURC-α and the extra metrics in one table, a row for each value, as `abstain evaluate -o f.csv` writes it.

        Keys: score, symbol, mix, metric, alpha, value, se, low, high, n, errors, best, tied; None where not known.
        """
        sizes = {row.mix: {"n": row.n, "errors": row.errors} for row in self.areas}
        areas = [row | {"metric": "aurc", "value": row["aurc"]} for row in self.rows]
        others = [row | sizes[row["mix"]] for row in self.extra_metrics]
        return [
            {name: row.get(name) for name in TABLE}
            | {"symbol": None if row["score"] is None else self.entries[row["score"]].symbol}
            for row in (*areas, *others)
        ]

    def to_html(
        self,
        file: str | PathLike[str],
        /,
        *,
        selector: "Selector | None" = None,
        risk: float | None = None,
        delta: float = 0.05,
        labels: "PageLabels | None" = None,
        estimate: "RiskEstimate | None" = None,
    ) -> None:
        """Write one self-contained page: which score and threshold, what they cost and guarantee, and where they fail.

        Parameters
        ----------
        file : path
            The .html file to write.
        selector : Selector, optional
            The page is about its threshold and guarantee.
        risk : float, optional
            Without a selector: the target of the recommended score; by default about half of the risk that there is.
        delta : float
            Probability with which a guarantee or a bound may fail.
        labels : PageLabels, optional
            What the page calls the outputs, the selector and itself.
        estimate : RiskEstimate, optional
            Of the selector's risk on new rows without labels, by `abstain.estimate_risk`, which gets a section.
        """
        from abstain.evaluation.page import check_page, page_context, write_page

        output = as_path("file", file)
        check_page(output)
        case = page_context(self, selector=selector, risk=risk, delta=delta, labels=labels, estimate=estimate)
        write_page(case, output)

    def to_polars(self) -> Any:
        """The rows as a Polars frame."""
        return require("polars", extra="scale", feature="Evaluation.to_polars").DataFrame(self.rows)

    def to_pandas(self) -> Any:
        """The rows as a pandas frame."""
        return require("pandas", extra=None, feature="Evaluation.to_pandas").DataFrame(self.rows)
