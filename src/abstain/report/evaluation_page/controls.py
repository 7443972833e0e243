"""Things to choose from."""

from abstain.evaluation import Evaluation
from abstain.evaluation.mixes import mix_among
from abstain.report.page import text


def option(value: object, title: str, chosen: bool = False, /) -> str:
    """An option of a select."""
    return f'<option value="{text(value)}"{" selected" if chosen else ""}>{text(title)}</option>'


def select(name: str, title: str, options: list[str], /) -> str:
    """A select with its label, not shown where there is nothing to choose."""
    hidden = " hidden" if len(options) < 2 else ""
    return f'<label{hidden}>{text(title)} <select id="{name}">{"".join(options)}</select></label>'


def mix_select(name: str, evaluation: Evaluation, /) -> str:
    """The mixes of an evaluation, the widest first."""
    widest = evaluation.mixes[-1]
    options = [
        option(mix, f"{mix_among(mix, evaluation.mixes).title} ({mix})", mix == widest)
        for mix in reversed(evaluation.mixes)
    ]
    return select(name, "Mix of shifts", options)
