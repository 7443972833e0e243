"""`Evaluation`: the result of comparing scores, with all that reports need."""

from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation.compared import Behind
from abstain.evaluation.learning import Learning, learning
from abstain.evaluation.mixes import MIXES, Mix
from abstain.extras import require
from abstain.metrics import RiskBand, RiskCoverage, risk_band, risk_coverage
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.scores.score import Score

TABLE = (
    "score", "symbol", "mix", "metric", "alpha", "value", "se", "low", "high", "n", "errors", "best", "tied",
)  # fmt: skip

if TYPE_CHECKING:
    from abstain.selector import Selector


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation:
    """A tidy table of AURC-α, a row for each score, mix of shifts and α; all scores see the same samples."""

    rows: list[dict[str, Any]]
    """Keys: score, mix, alpha, aurc, se, low, high, n, errors, best, tied (not significantly worse than the best)."""
    behind: Behind
    """By score, mix and α, the paired difference to the best, which is not among them."""
    further: list[dict[str, Any]]
    """Metrics that were asked for, keys: score (None for those of the softmax), mix, metric, value, se or None."""
    left_out: dict[str, str]
    """Scores that could not be computed, and why."""
    notes: tuple[str, ...]
    level: float
    entries: dict[str, Score]
    """The scores compared, by name."""
    confidence: dict[str, NDArray[np.float64]]
    """(n,) by score; NaN where a row is not usable."""
    outputs: Outputs
    """The rows that were evaluated: those that no score was fitted on."""
    seed: int = 0
    """Of the draw of rows to fit on."""

    def __repr__(self) -> str:
        best = self.best(self.mixes[-1], max(self.alphas))
        return (
            f"<Evaluation of {len(self.scores)} scores on {self.n} rows, mixes {', '.join(self.mixes)}; best over "
            f"{best['mix']}: {best['score']}, AURC {best['aurc']:.4g}>"
        )

    def _repr_html_(self) -> str:
        from abstain.evaluation.summarize import summarize

        return summarize(self).to_html()

    @property
    def n(self) -> int:
        """The number of rows evaluated."""
        return len(self.outputs)

    @property
    def errors(self) -> NDArray[np.bool_]:
        """(n,) where the prediction was wrong."""
        return self.outputs.errors

    @property
    def scores(self) -> list[str]:
        """The names of the scores compared."""
        return list(self.confidence)

    @property
    def mixes(self) -> list[str]:
        """The mixes evaluated, the widest last."""
        return list(dict.fromkeys(row["mix"] for row in self.rows))

    @property
    def alphas(self) -> list[float]:
        """The coverages α evaluated."""
        return list(dict.fromkeys(row["alpha"] for row in self.rows))

    def row(self, score: str, mix: str, alpha: float) -> dict[str, Any]:
        """One row of the table."""
        for row in self.rows:
            if (row["score"], row["mix"], row["alpha"]) == (score, mix, alpha):
                return row
        raise KeyError(f"no row for score {score!r}, mix {mix!r} and alpha {alpha}")

    def column(self, mix: str, alpha: float) -> list[dict[str, Any]]:
        """The rows of a mix and α, a row for each score."""
        found = [row for row in self.rows if row["mix"] == mix and row["alpha"] == alpha]
        if not found:
            raise KeyError(f"no rows for mix {mix!r} and alpha {alpha}")
        return found

    def best(self, mix: str, alpha: float = 1.0) -> dict[str, Any]:
        """The row of the lowest AURC-α in a mix."""
        return next(row for row in self.column(mix, alpha) if row["best"])

    def mix(self, name: str) -> Mix:
        """A mix by its name."""
        return MIXES[name]

    def curve(self, score: str, mix: str) -> RiskCoverage:
        """The risk–coverage curve of a score on a mix."""
        chosen = MIXES[mix].rows(self.outputs.shift)
        return risk_coverage(rejected_last(self.confidence[score][chosen]), self.errors[chosen])

    def band(self, score: str, mix: str) -> RiskBand:
        """How sure the points of that curve are, pointwise, each original sample counted once."""
        chosen = MIXES[mix].rows(self.outputs.shift)
        confidence = rejected_last(self.confidence[score][chosen])
        samples = None if self.outputs.ids is None else self.outputs.samples[0][chosen]
        return risk_band(confidence, self.errors[chosen], ids=samples, level=self.level)

    def learning(self, score: str, mix: str, alpha: float) -> Learning | None:
        """What a learned score would gain over this one, where that can be told, is significant, and none is there."""
        if any(entry.fits_on_shifted for entry in self.entries.values()):
            return None
        return learning(self.confidence, self.outputs, score=score, mix=MIXES[mix], alpha=alpha, level=self.level)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `abstain evaluate --json` prints it."""
        from abstain.evaluation.verdict import verdict

        return {
            "n": self.n,
            "verdict": verdict(self).to_dict(),
            "rows": self.rows,
            "further": self.further,
            "left_out": self.left_out,
            "notes": list(self.notes),
            "level": self.level,
        }

    def table(self) -> list[dict[str, Any]]:
        """AURC-α and the further metrics in one table, a row for each value, as `abstain evaluate -o f.csv` writes it.

        Keys: score, symbol, mix, metric, alpha, value, se, low, high, n, errors, best, tied; None where not known.
        """
        sizes = {row["mix"]: {"n": row["n"], "errors": row["errors"]} for row in self.rows}
        areas = [row | {"metric": "aurc", "value": row["aurc"]} for row in self.rows]
        others = [row | sizes[row["mix"]] for row in self.further]
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
        run: str = "run/",
    ) -> None:
        """Write one self-contained page that decides: `abstain.report.evaluation_page.write_page`, which tells more.

        Its point is that of a ``selector``, or the recommended score at a target ``risk``.
        """
        page = import_module("abstain.report.evaluation_page")  # renderings know evaluations, not the reverse
        page.write_page(self, file, selector=selector, risk=risk, delta=delta, run=run)

    def to_polars(self) -> Any:
        """The rows as a Polars frame."""
        return require("polars", extra="scale", feature="Evaluation.to_polars").DataFrame(self.rows)

    def to_pandas(self) -> Any:
        """The rows as a pandas frame."""
        return require("pandas", extra=None, feature="Evaluation.to_pandas").DataFrame(self.rows)
