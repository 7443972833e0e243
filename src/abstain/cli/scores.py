"""`abstain scores`: what there is to choose from."""

from abstain.cli.letters import shown
from abstain.cli.options import Json
from abstain.cli.show import print_json


def scores(json: Json = False) -> None:
    """List the scores, their symbols in the paper, what each needs, and where it comes from.

    Example: abstain scores
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from abstain.scores import SCORES

    rows = [
        {
            "name": score.name,
            "symbol": score.symbol,
            "family": score.about.family,
            "needs": score.needs,
            "reference": score.about.reference,
            "summary": score.about.summary,
        }
        for score in SCORES.values()
    ]
    if json:
        print_json({"scores": rows})
        return
    console = Console()
    wide = ("name", "symbol", "family", "needs", "reference", "summary")
    narrow = ("name", "symbol", "needs", "reference")
    columns = wide if console.width >= 170 else wide[:5] if console.width >= 110 else narrow
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for field in columns:
        table.add_column(field, no_wrap=field == "name")
    for row in rows:
        cells = row | {"needs": ", ".join(row["needs"])}
        table.add_row(*(shown(str(cells[field])) for field in columns))
    console.print(table)
    console.print("Options go in brackets: knn(k=5). `fitting`: fitted on rows of its own; `labels`: they have labels.")
    console.print("Not here: what takes the network's gradients or its input again, such as ODIN, GradNorm, AdaSCALE.")
