"""`abstain groups`: who is rejected, and what each remedy costs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain.cli.inputs import decided_rows
from abstain.cli.options import DeciderFile, Level
from abstain.cli.printing import Lines, Result

if TYPE_CHECKING:
    from abstain.selector.remedies import Remedy


def groups(
    selector: DeciderFile,
    table: Annotated[
        list[Path],
        typer.Argument(
            help="Labelled outputs in a .csv or .parquet table; of a cascade, then those of its other models."
        ),
    ],
    group_column: Annotated[
        list[str], typer.Option(help="A column that divides the rows; repeat for intersections of several.")
    ],
    remedies: Annotated[
        Path | None,
        typer.Option(help="A calibration table with the same columns: compare what keeping every group costs."),
    ] = None,
    level: Level = 0.95,
) -> Result:
    """Show who is rejected. Coverage, risk and accepted errors of each group, with intervals that hold together.

    Several columns are shown one by one and crossed. With --remedies the selector's risk is calibrated again in three
    ways: for all rows, for every group by one threshold, and by a threshold for each group.

    Example: abstain groups s.abstain fresh.csv --group-column segment --remedies held_out.csv
    """
    from abstain.selector.cascades.loading import certifying_selector, load_selector

    decider = load_selector(selector)
    loaded = certifying_selector(decider)
    outputs, columns = _read(decider, table, group_column)
    accepted, errors = loaded.accepts(outputs), loaded.outcomes(outputs)
    named = {
        name: abstain.metrics.compare_groups(
            names, accepted, errors, ids=outputs.ids, level=level, classes=loaded.limited_classes(outputs)
        )
        for name, names in columns.items()
    }
    costs = [] if remedies is None else _remedies(decider, remedies, table[0], group_column)
    lines = [line for name, each in named.items() for line in group_lines(name, each, is_graded=outputs.is_graded)]
    gaps = {name: each.gaps() for name, each in named.items()}
    return Result({"groups": named, "gaps": gaps, "remedies": costs}, [*lines, *_remedy_lines(costs)])


def _read(
    decider: "abstain.Selector | abstain.Cascade", tables: list[Path], names: list[str]
) -> tuple[Any, dict[str, Any]]:
    """The outputs, and the groups of each column of the first table and, of several, of their intersection."""
    from abstain.outputs.column_names import is_outcome_or_confidence
    from abstain.outputs.columns import SUFFIXES
    from abstain.outputs.table import read_columns
    from abstain.selector.cascades.loading import certifying_selector

    table = tables[0]
    if table.suffix.lower() not in SUFFIXES:
        raise InvalidInputError(f"`table` must be a .csv or .parquet table, got {table.name}.")
    for name in names:
        if is_outcome_or_confidence(name):
            raise InvalidInputError(f"`--group-column` must not be an outcome, a confidence or an id, got {name}.")
    outputs = decided_rows(decider, tables, what="TABLE", group=certifying_selector(decider).group_column)
    if not outputs.is_labelled:
        raise InvalidInputError(f"`{table}` must have labels, or a column correct, error or loss, got none.")
    columns = read_columns(table, text=tuple(names))
    several = {" × ".join(names): abstain.metrics.intersection(columns)} if len(names) > 1 else {}
    return outputs, columns | several


def _remedies(
    selector: "abstain.Selector | abstain.Cascade", calibration: Path, table: Path, names: list[str]
) -> "list[Remedy]":
    """What each remedy does on the table, calibrated on other rows for the risk of the selector."""
    from abstain.outputs.table import read_columns
    from abstain.selector.remedies import remedies
    from abstain.thresholds import Quantity

    if isinstance(selector, abstain.Cascade):
        raise InvalidInputError("`--remedies` must come with a selector, got a cascade, whose groups are its stages.")
    guarantee = selector.threshold.guarantee
    if guarantee.quantity.graded not in (Quantity.LOSS, Quantity.GROUP_LOSS) or guarantee.probability is None:
        raise InvalidInputError(
            f"`--remedies` must come with a selector of a guaranteed risk, got one of {guarantee.about}."
        )
    rows = []
    for file in (calibration, table):
        groups = abstain.metrics.intersection(read_columns(file, text=tuple(names)))
        rows.append(_with_domain(abstain.Outputs.load(file, nonfinite="reject"), groups))
    return remedies(*rows, risk=guarantee.asked, delta=1 - guarantee.probability, score=selector.entry)


def _with_domain(outputs: Any, groups: Any) -> Any:
    """The outputs with other groups."""
    if outputs.n_classes:
        names = ("logits", "labels", "features", "weight", "bias", "class_names")
        kind = {name: getattr(outputs, name) for name in names}
    else:
        confidences = {name: outputs.confidence(name) for name in outputs.confidence_names}
        kind = {"confidences": confidences, "losses" if outputs.is_graded else "errors": outputs.outcomes}
    return abstain.Outputs(**kind, ids=outputs.ids, domain=groups, nonfinite="reject")


def group_lines(name: str, comparison: "abstain.metrics.GroupComparison", /, *, is_graded: bool) -> Lines:
    """The rates of each group, the one of which the least is accepted first, and the largest differences."""
    missed = "a loss of" if is_graded else "a wrong answer"
    yield f"By {name}, intervals that hold together with probability {comparison.level:g}:"
    for group in sorted(comparison.groups, key=lambda group: group.coverage.value):
        risk = "nothing accepted" if group.risk is None else f"risk {_interval(group.risk)}"
        yield (
            f"- {group.name} ({group.n:,} rows): accepted {_interval(group.coverage)}; {risk}; accepted with "
            f"{missed} {_interval(group.missed)}"
            + "".join(f"; of the true class {name} missed {_interval(each)}" for name, each in group.misses.items())
        )
    yield from (gap.words for gap in comparison.gaps())


def _remedy_lines(costs: "list[Remedy]") -> Lines:
    if not costs:
        return
    yield "What keeping the risk in every group costs, calibrated on the other table and observed on this one:"
    for each in costs:
        if each.coverage is None:
            yield f"- {each.name}: {each.reason}."
            continue
        risk = "no group has accepted rows" if each.highest_risk is None else f"highest risk {each.highest_risk:.1%}"
        yield f"- {each.name}: accepted {each.coverage:.1%}, in the worst group {each.lowest_coverage:.1%}; {risk}"


def _interval(estimate: Any) -> str:
    return f"{estimate.value:.2%} ({estimate.low:.2%} to {estimate.high:.2%})"
