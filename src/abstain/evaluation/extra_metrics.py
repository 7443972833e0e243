"""Extra metrics besides AURC, asked for by name, in the mixes where they are defined."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from abstain._arguments import check_list
from abstain.evaluation.mixes import Mix
from abstain.evaluation.score_comparison import Ranked
from abstain.evaluation.score_table import MetricRow
from abstain.metrics.metric import Metric
from abstain.metrics.registry import METRICS, as_metric
from abstain.outputs.rows import take_rows

Asked = list[tuple[str, Metric, float]]


def as_metrics(asked: str | Iterable[str], /) -> Asked:
    """The metrics meant, by name and with their parameters; "all" stands for every one."""
    if not isinstance(asked, str):
        check_list("metrics", asked, "names")
    names = [asked] if isinstance(asked, str) else list(asked)
    every = [each for name in names for each in (METRICS if name == "all" else [name])]
    return [(name, *as_metric(name)) for name in dict.fromkeys(every)]


def metric_rows(ranked: Ranked, mix: Mix, asked: Asked, /, *, level: float) -> list[MetricRow]:
    """A row for each score and metric that the rows of a mix allow; those of the softmax are no score's: None."""
    if not asked:
        return []
    outputs, on_mix = ranked.outputs, ranked.on(mix)
    chosen, source = on_mix.numbers, outputs.source("logits")
    of_softmax = any("softmax" in metric.needs for _, metric, _ in asked) and outputs.n_classes > 0
    of_softmax = of_softmax and bool(outputs.usable[chosen].all())  # a non-finite row has no softmax
    rows = replace(
        on_mix.rows,
        labels=None if outputs.labels is None else outputs.labels[chosen],
        logits=take_rows(source, chosen) if of_softmax and source is not None else None,
    )
    allowed = [item for item in asked if item[1].objection(rows) is None]
    table: list[MetricRow] = []
    for number, (score, ranking) in enumerate(on_mix.rankings(rows).items()):
        for name, metric, at in allowed:
            shared = "softmax" in metric.needs
            if shared and number:
                continue
            with suppress(ValueError):  # not defined on these rows
                measured = metric(ranking, at=at)
                low, high = measured.interval(level=level) or (None, None)
                score_name = None if shared else score
                table.append(
                    MetricRow(
                        score=score_name,
                        mix=mix.name,
                        metric=name,
                        value=measured.value,
                        se=measured.se,
                        low=low,
                        high=high,
                    )
                )
    return table
