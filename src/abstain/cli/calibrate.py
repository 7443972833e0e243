"""`abstain calibrate`: outputs to a selector file."""

import csv
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from abstain.cli.complete import group_kinds, method_names, score_or_best
from abstain.cli.options import ONE_SCORE, Json
from abstain.cli.program import program
from abstain.cli.refusal import refusal_as_json
from abstain.cli.show import print_json, say
from abstain.cli.sketched import calibrate_from_sketch
from abstain.cli.unused_columns import tell_unused

if TYPE_CHECKING:
    from abstain.selector import Selector
    from abstain.thresholds import Threshold


def calibrate(
    outputs: Annotated[Path, typer.Argument(help="Labelled outputs, or a .sketch, drawn like those to come.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The selector file to write.")],
    score: Annotated[
        str | None,
        typer.Option(
            help=f"The score to trust, or several with commas, of which the best is taken. {ONE_SCORE}",
            autocompletion=score_or_best,
        ),
    ] = None,
    risk: Annotated[float | None, typer.Option(help="Largest share of errors among accepted samples.")] = None,
    coverage: Annotated[float | None, typer.Option(help="Smallest share of samples to accept.")] = None,
    cost: Annotated[
        str | None, typer.Option(help="Cost of rejecting, where an error costs 1; or one per true class: 0.1,0.5,…")
    ] = None,
    costs: Annotated[
        Path | None, typer.Option(help="A .csv with the cost of predicting (row) where it is (column), no header.")
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(
            metavar="[class|group|COLUMN]",
            help="A threshold for each predicted class, each group (domain), or each value of a column of the table.",
            autocompletion=group_kinds,
        ),
    ] = None,
    group_risk: Annotated[
        float | None, typer.Option(help="With --per: one threshold, this risk in each group, --risk overall.")
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="With --per: each promise holds with 1 − δ, not all of them together.")
    ] = False,
    delta: Annotated[float, typer.Option(help="Probability with which the promise may fail.")] = 0.05,
    method: Annotated[
        str | None,
        typer.Option(
            help="step_down, betting, sgr, bonferroni; with a cost: minimal_cost, chow.", autocompletion=method_names
        ),
    ] = None,
    largest_cluster: Annotated[
        int | None,
        typer.Option(min=1, help="Largest number of rows per id in deployment. Default: the largest here."),
    ] = None,
    label_above: Annotated[
        float | None,
        typer.Option(
            help="Labels of rows at or below this confidence are ignored, and those rows are never accepted. Fix it "
            "before labelling."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits.")] = 0,
    json: Json = False,
) -> None:
    """Choose a threshold with a guarantee and write a selector.

    OUTPUTS is a folder of outputs, an .npz, or a .csv or .parquet table with the columns confidence and correct (or
    error), or logit_… or proba_… and label, and where there are some id and group. A risk and a coverage may be asked
    for together.

    Example: abstain calibrate run/ --risk 0.02 --delta 0.05 -o selector.abstain
    """
    import abstain
    from abstain.files import check_goal
    from abstain.scores.registry import split_names

    check_goal(output)
    groups, column = _groups(per, outputs)
    if each and per is None:
        raise ValueError("`--each` must come with `--per`, got no `--per`.")

    if outputs.suffix == ".sketch":
        refused = {"--cost": cost, "--costs": costs, "--group-risk": group_risk}
        refused |= {"--largest-cluster": largest_cluster, "--label-above": label_above}
        with refusal_as_json(json):
            selector = calibrate_from_sketch(
                outputs,
                refused=refused,
                score=score,
                risk=risk,
                coverage=coverage,
                per=groups,
                jointly=not each,
                delta=delta,
                method=method,
            )
        _tell(selector, output, kind="", by_default=score is None, json=json)
        return
    with refusal_as_json(json):
        selector = abstain.calibrate(
            abstain.Outputs.load(outputs, nonfinite="reject", group=column),
            score=None if score is None else split_names(score),
            risk=risk,
            coverage=coverage,
            cost=_numbers(cost),
            costs=_table(costs),
            delta=delta,
            method=method,
            label_above=label_above,
            per=groups,
            group_risk=group_risk,
            jointly=not each,
            largest_cluster=largest_cluster,
            seed=seed,
        )
    tell_unused(outputs, group=column)
    if per is not None and selector.groups is not None:
        selector = replace(selector, groups=replace(selector.groups, per=per))  # called as in the option
    _tell(selector, output, kind=outputs.suffix if outputs.is_file() else "", by_default=score is None, json=json)


def _tell(selector: "Selector", output: Path, *, kind: str, by_default: bool, json: bool) -> None:
    """Write the selector, and what it promises; rows that it can decide on are of this ``kind``, a suffix."""
    from dataclasses import asdict

    from abstain.scores.default import default_words
    from abstain.thresholds.refutation import untestable

    selector.save(output)
    if json:
        groups = None if selector.groups is None else asdict(selector.groups)
        found = {"score": selector.score, "threshold": asdict(selector.threshold), "groups": groups}
        print_json({"selector": str(output)} | found)
        return
    say(selector.summary())
    for name, threshold in () if selector.groups is None else selector.groups.thresholds.items():
        say(f"  {name}: {_told(threshold)}")
    if by_default:
        say(default_words(selector.score))
    if reason := untestable(selector.threshold.promise):
        say(f"`abstain certify` cannot test this guarantee on fresh rows: {reason}.")
    say(f"Next: {program()} {shlex.join(['select', str(output), f'NEW{kind}'])} -o decisions.csv", whole=True)


def _groups(per: str | None, outputs: Path) -> tuple[Literal["class", "domain"] | None, str | None]:
    """What --per means: classes or domains, and the column that names these, if it is not group or domain."""
    from abstain.names import check_name
    from abstain.outputs.column_names import is_outcome_or_confidence
    from abstain.outputs.columns import SUFFIXES, names_of

    if per is None:
        return None, None
    if per == "class":
        return "class", None
    if per in ("domain", "group"):
        return "domain", None
    is_table = outputs.suffix.lower() in SUFFIXES and outputs.is_file()
    columns = names_of(outputs) if is_table else []
    rule = "be class, group" + (" or a column of the table" if is_table else " or domain")
    check_name("--per", per, [*columns, "class", "group", "domain"], rule=rule)
    if is_outcome_or_confidence(per):
        raise ValueError(
            f"`--per` must be a column known before the answer is checked, no confidence and no id, got {per}. "
            "Groups by the outcome guarantee nothing about rows to come."
        )
    return "domain", per


def _told(threshold: "Threshold") -> str:
    if threshold.value == float("inf"):
        return f"always rejected, nothing can be certified on {threshold.n} rows"
    return f"accept above {threshold.value:.6g}, {threshold.accepted / threshold.n:.1%} of {threshold.n} rows"


def _numbers(text: str | None) -> float | list[float] | None:
    if text is None:
        return None
    from abstain.arguments import written_number

    try:
        found = [written_number(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"`--cost` must be a number, or one per class such as 0.1,0.5,0.3, got {text!r}.") from None
    return found[0] if len(found) == 1 else found


def _table(file: Path | None) -> list[list[float]] | None:
    if file is None:
        return None
    from abstain.arguments import written_number
    from abstain.files import read_text

    lines = read_text(file, "a table of costs").splitlines()
    try:
        cells = [row for row in csv.reader(lines, strict=True) if row]
        rows = [[written_number(cell) for cell in row] for row in cells]
    except (csv.Error, ValueError) as error:
        raise ValueError(f"`{file}` must hold numbers only, got {error}.") from None
    if len({len(row) for row in rows}) != 1:
        raise ValueError(f"`{file}` must have rows of one length, got others or none.")
    return rows
