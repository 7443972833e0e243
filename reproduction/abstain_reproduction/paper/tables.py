"""The paper's own tables: do the 600 values it printed bear out what its text says?"""

from abstain.metrics.intervals import ALPHAS
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.paper.published_areas import (
    ACCURACIES,
    DOUBTS,
    MISPLACED,
    SOURCES,
    PooledAreas,
    PublishedAreas,
    full_risk,
    paper_tables,
)
from abstain_reproduction.paper.score_claims import COMPARABLE, MARGINS, PAPER_SCORES, STEADY, claims_on, margins_alike
from abstain_reproduction.paper.standing_figure import standing_figure

TITLE = "The paper's own tables against its text"
NOT_SAID = (("imagenet", "sr-beats-ood"),)
POOLED = "geo-like-conf"
"""What the paper says of its experiments together, not of each."""


def run(setting: Setting) -> Findings:  # noqa: ARG001
    """Test every claim about scores on the values printed for each model."""
    verdicts: list[ClaimVerdict] = []
    standings = []
    for (task, model), (source, name) in SOURCES.items():
        areas = PublishedAreas(task, model)
        model_verdicts = claims_on(areas, data=f"{source} as printed: {name}, {len(ALPHAS) * len(areas.mixes)} columns")
        verdicts += [
            verdict for verdict in model_verdicts if (task, verdict.claim) not in NOT_SAID and verdict.claim != POOLED
        ]
        standings.append((name, areas))
    pooled = PooledAreas(dict(standings))
    verdicts.append(
        margins_alike(pooled, data=f"Tables 3, 4 and 8 as printed, {len(ALPHAS) * len(pooled.mixes)} columns")
    )
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
            ResultTable(
                "How the margins stand in the printed columns",
                ("model", "columns", "a margin is best", f"within {COMPARABLE[0]:.0%} of the best", "furthest from it"),
                rows,
            ),
            ResultTable("Printed values in doubt", ("where", "score", "why"), tuple(_doubts())),
            ResultTable("Marks that do not follow from the values", ("where", "score", "printed", "due"), _marks()),
            _low_coverage(),
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
    rows = [
        (
            f"{SOURCES[doubt.task, doubt.model][0]}, {doubt.model}, {doubt.mix}, α = "
            + " and ".join(f"{alpha:g}" for alpha in doubt.alphas),
            doubt.score,
            doubt.reason,
        )
        for doubt in DOUBTS
    ]
    return [
        *rows,
        ("Tables 1 and 6, ResNeXt", "accuracy", "85.54 in one, 85.94 in the other"),
        ("Table 2, iWildCam", "classes", "178, where iWildCam v2.0 of WILDS has 182"),
    ]


def _marks() -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            f"{SOURCES['imagenet', mark.model][0]}, {mark.model}, {mark.mix}, α = {mark.alpha:g}",
            f"{mark.score}, {paper_tables()['imagenet', mark.model, mark.mix, mark.score, mark.alpha]:g}",
            mark.printed,
            mark.due,
        )
        for mark in MISPLACED
    )


def _low_coverage() -> ResultTable:
    """What the tables say of the rise of the risk at low coverage with unknown classes in the mix."""
    others = [score for score in PAPER_SCORES if score not in STEADY]
    rows = []
    for model in ACCURACIES:
        areas = PublishedAreas("imagenet", model)
        rising = [score for score in others if areas.area(score, "in+label", 0.1) > areas.area(score, "in+label", 0.5)]
        highest = max(100 * areas.area(score, "in+label", 0.1) for score in others)
        full = " or ".join(f"{risk:.1f}" for risk in dict.fromkeys(full_risk(model)))
        rows.append((SOURCES["imagenet", model][1], f"{len(rising)} of {len(others)}", f"{highest:.1f}", full))
    return ResultTable(
        "Risk at low coverage, in+label",
        ("model", "AURC-0.1 above AURC-0.5", "highest AURC-0.1 × 100", "risk at full coverage, %"),
        tuple(rows),
        "Of all scores but the margins and KNN. The risk at full coverage follows from Tables 1 (or 6) and 2.",
    )


TABLES = Experiment("tables", TITLE, run)
