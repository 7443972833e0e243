"""The table of an evaluation in Markdown."""

from abstain.evaluation import Evaluation
from abstain.report.figures import distinct_mixes
from abstain.scores import SCORES


def markdown_table(evaluation: Evaluation, /) -> str:
    """AURC-α × 100 by score, mix and α, the best of a column in bold, those not significantly worse in italics."""
    mixes = distinct_mixes(evaluation)
    columns = [(mix, alpha) for mix in mixes for alpha in evaluation.alphas]
    lines = [
        "| score | " + " | ".join(f"{mix} α={alpha:g}" for mix, alpha in columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for score in evaluation.scores:
        cells = []
        for mix, alpha in columns:
            row = evaluation.row(score, mix, alpha)
            mark = "**" if row["best"] else "*" if row["tied"] else ""
            cells.append(f"{mark}{100 * row['aurc']:.2f}{mark}")
        lines.append(f"| {SCORES[score].symbol} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
