"""`abstain estimate`: accuracy and risk of a selector on outputs without labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli.inputs import decided_rows, warn_unused
from abstain.cli.options import GroupColumn, Json
from abstain.cli.printing import print_json, say, small_table

if TYPE_CHECKING:
    from abstain.monitor import RiskEstimate


def estimate(
    selector: Annotated[Path, typer.Argument(help="A selector or cascade file.")],
    outputs: Annotated[
        list[Path],
        typer.Argument(help="New outputs, of a cascade of each model; labels are not read if there are any."),
    ],
    reference: Annotated[
        list[Path],
        typer.Option(
            help="Labelled outputs from before the shift, such as those of calibration; for a cascade, repeat it."
        ),
    ],
    method: Annotated[
        list[str] | None, typer.Option(help="A method; repeat. The first one is the headline. [all]")
    ] = None,
    group_column: GroupColumn = None,
    json: Json = False,
) -> None:
    """Estimate the risk on outputs without labels. Accuracy too, by several methods; no estimate is a guarantee.

    Each method assumes something about the shift that only labels can check; the spread between them shows how much
    that matters here. Coverage is counted.

    Example: abstain estimate s.abstain new/ --reference run/
    """
    import abstain
    from abstain.selector.cascades.loading import certifying_selector, load_selector

    decider = load_selector(selector)
    loaded = certifying_selector(decider)
    column = group_column
    if not isinstance(decider, abstain.Cascade) and loaded.group_column:
        column = loaded.group_column
    known = decided_rows(decider, reference, what="--reference", group=column)
    new = decided_rows(decider, outputs, group=column)
    result = abstain.estimate_risk(loaded, new, reference=known, methods=method)
    for path in (*reference, *outputs):
        warn_unused(path, group=column)
    if json:
        print_json(result.to_dict())
        return
    _print(result)


def _print(result: "RiskEstimate") -> None:
    from rich.console import Console

    from abstain.monitor import RISK_METHODS

    rows = [
        (f"{each.method} ({RISK_METHODS[each.method].title})", f"{each.risk:.1%}", f"{each.accuracy:.1%}")
        for each in result.estimates
    ]
    rows.append(("reference rows, observed", f"{result.reference.risk:.1%}", f"{result.reference.accuracy:.1%}"))
    Console().print(
        small_table(
            (
                "method",
                "mean loss of accepted" if result.is_graded else "risk",
                "1 − mean loss of all" if result.is_graded else "accuracy",
            ),
            rows,
        )
    )
    for line in result.lines():
        say(f"- {line}")
    for name, reason in result.left_out.items():
        say(f"- {name} is left out: {reason}.")
