"""One sentence that says what an evaluation shows."""

from abstain.evaluation import Evaluation

MIX_WORDS = {
    "in": "on in-distribution samples",
    "in+cov": "with covariate shift",
    "in+label": "with unknown classes",
    "all": "over all samples",
}


def headline(evaluation: Evaluation, /) -> str:
    """Which score is best over all samples, by how much, and which others are as good as can be told."""
    mix, alpha = evaluation.mixes[-1], max(evaluation.alphas)
    column = [row for row in evaluation.rows if row["mix"] == mix and row["alpha"] == alpha]
    best = evaluation.best(mix, alpha)
    tied = [row["score"] for row in column if row["tied"] and row is not best]
    worst = max(column, key=lambda row: row["aurc"])
    sentence = (
        f"{MIX_WORDS[mix].capitalize()} ({best['n']} samples, {best['errors'] / best['n']:.1%} errors), "
        f"{best['score']} ranks best: "
        f"AURC {100 * best['aurc']:.2f} against {100 * worst['aurc']:.2f} for {worst['score']}"
    )
    if best["errors"] in (0, best["n"]):
        what = "right" if best["errors"] == 0 else "wrong"
        return f"{MIX_WORDS[mix].capitalize()} every prediction is {what}, so every score ranks alike."
    if len(column) == 1:
        return f"{MIX_WORDS[mix].capitalize()}, {best['score']} has AURC {100 * best['aurc']:.2f}."
    if not tied:
        return f"{sentence}; every other score is significantly worse."
    if len(tied) == len(column) - 1:
        return f"{sentence}, but no score is significantly worse."
    verb = "is" if len(tied) == 1 else "are"
    return f"{sentence}; of the others only {_listed(tied)} {verb} not significantly worse."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
