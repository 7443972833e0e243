"""The paper's own tables: do the 600 values it printed bear out what its text says?"""

from abstain.experiments.claims import Verdict
from abstain.experiments.experiment import Experiment, Setting
from abstain.experiments.findings import Findings, Table
from abstain.experiments.paper.published import DOUBTS, PLACES, PublishedAreas, paper_tables
from abstain.experiments.paper.score_claims import COMPARABLE, MARGINS, PAPER_SCORES, claims_on
from abstain.experiments.paper.standing_figure import standing_figure
from abstain.metrics.intervals import ALPHAS

TITLE = "The paper's own tables against its text"


def run(setting: Setting) -> Findings:  # noqa: ARG001
    """Test every claim about scores on the values printed for each model."""
    verdicts: list[Verdict] = []
    standings = []
    for (task, model), (place, name) in PLACES.items():
        areas = PublishedAreas(task, model)
        found = claims_on(areas, data=f"{place} as printed: {name}, {len(ALPHAS) * len(areas.mixes)} columns")
        verdicts += [verdict for verdict in found if task != "imagenet" or verdict.claim != "sr-beats-ood"]  # not said
        standings.append((name, areas))
    rows = tuple(_standing(name, areas) for name, areas in standings)
    doubted = sum(len(doubt.alphas) for doubt in DOUBTS)
    best, near, columns = (sum(int(row[k].split()[0]) for row in rows) for k in (2, 3, 1))
    return Findings(
        words=(
            f"Of the {columns} columns of Tables 3, 4 and 8 a margin is best in {best}, and within {COMPARABLE[0]:.0%} "
            f"of the best in {near}. Values that others contradict are set aside: {doubted}."
        ),
        verdicts=tuple(verdicts),
        tables=(
            Table(
                "How the margins stand in the printed columns",
                ("model", "columns", "a margin is best", f"within {COMPARABLE[0]:.0%} of the best", "furthest from it"),
                rows,
            ),
            Table("Printed values in doubt", ("where", "score", "why"), tuple(_doubts())),
        ),
        figures={"standing": lambda: standing_figure(standings)},
        numbers={"printed": [dict(zip(KEYS, (*key, value), strict=True)) for key, value in paper_tables().items()]},
    )


KEYS = ("task", "model", "mix", "score", "alpha", "aurc_x100")


def _standing(name: str, areas: PublishedAreas) -> tuple[str, ...]:
    excesses = {(mix, alpha): _excess(areas, mix, alpha) for mix in areas.mixes for alpha in ALPHAS}
    (mix, alpha), worst = max(excesses.items(), key=lambda item: item[1])
    best = sum(excess <= 0 for excess in excesses.values())
    near = sum(excess <= COMPARABLE[0] for excess in excesses.values())
    return name, str(len(excesses)), str(best), str(near), f"{worst:.0%} above, {mix} at α = {alpha:g}"


def _excess(areas: PublishedAreas, mix: str, alpha: float) -> float:
    """How far the better margin is above the best score, as a share of it."""
    best = min(areas.area(score, mix, alpha) for score in PAPER_SCORES)
    return min(areas.area(score, mix, alpha) for score in MARGINS) / best - 1


def _doubts() -> list[tuple[str, ...]]:
    found = [
        (
            f"{PLACES[doubt.task, doubt.model][0]}, {doubt.model}, {doubt.mix}, α = "
            + " and ".join(f"{alpha:g}" for alpha in doubt.alphas),
            doubt.score,
            doubt.reason,
        )
        for doubt in DOUBTS
    ]
    return [*found, ("Tables 1 and 6, ResNeXt", "accuracy", "85.54 in one, 85.94 in the other")]


TABLES = Experiment("tables", TITLE, run)
