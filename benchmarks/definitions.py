"""What our readings of two definitions change on real models: the tables of docs/scores.md on RL_geo-M and SIRC.

`python benchmarks/definitions.py FOLDER` reads the outputs that `scripts/reproduce NAME` has left in FOLDER, a folder
per experiment, and takes the shipped digits with them.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from abstain import Outputs
from abstain.datasets import digits
from abstain.evaluation.mixes import mixes_of
from abstain.metrics import aurc, compare
from abstain.scores import SIRC, CannotFitError, GeometricMargin, Residual, ViM, geometric_rule
from abstain.scores.fitting_draw import rows_per_class

DRAWS = 5


def every(folder: Path) -> Iterator[tuple[str, Outputs]]:
    """The outputs with a head, by experiment and model."""
    yield "digits", digits()
    for header in sorted(folder.glob("*/outputs*/outputs.json")):
        outputs = Outputs.load(header.parent)
        if outputs.weight is not None and not outputs.are_log_probabilities and header.parent.parent.name != "digits":
            yield header.parent.parent.name + header.parent.name.removeprefix("outputs"), outputs


def forms(name: str, outputs: Outputs) -> None:
    """AURC × 100 of the three forms of RL_geo-M, and the interval of signed less eq. 11."""
    signed, gap = GeometricMargin()(outputs), GeometricMargin("top_two")(outputs)
    own = geometric_rule(outputs)
    for mix in mixes_of(outputs)[0]:
        rows = mix.rows(outputs.shift)
        errors, ids = outputs.errors[rows], None if outputs.clusters is None else outputs.clusters[rows]
        apart = compare(signed[rows], gap[rows], errors, ids=ids)
        areas = [
            aurc(c[rows], e[rows]) for c, e in ((signed, outputs.errors), (gap, outputs.errors), (gap, own.errors))
        ]
        print(
            f"| {name} | {mix.name} | {np.mean(signed[rows] < 0):.1%} |",
            *(f"{100 * area:.2f} |" for area in areas),
            f"{100 * apart.difference:+.2f} [{100 * apart.low:+.2f}, {100 * apart.high:+.2f}] |",
        )


def constants(name: str, outputs: Outputs) -> None:
    """AURC × 100 of SIRC and ViM, constants from the rows of the fit and from rows outside it, means over draws."""
    areas: dict[str, list[list[float]]] = {}
    for seed in range(DRAWS):
        drawn, kept = rows_per_class(outputs, seed=seed)
        sample, rest = outputs.select(drawn), outputs.select(kept)
        try:
            sirc, vim = SIRC().fit(sample), ViM().fit(sample)
            seen = Residual().fit(sample)(sample)
        except CannotFitError:
            continue
        mean, spread = seen.mean(), seen.std()
        naive = replace(sirc, a=np.array([mean - 3 * spread]), b=np.array([1 / spread]))
        larger = replace(vim, alpha=-float(sample.logits.max(axis=1).mean() / mean))
        values = [naive(rest), sirc(rest), larger(rest), vim(rest)]
        for mix in mixes_of(rest)[0]:
            rows = mix.rows(rest.shift)
            areas.setdefault(mix.name, []).append([100 * aurc(value[rows], rest.errors[rows]) for value in values])
    for mix, draws in areas.items():
        print(f"| {name} | {mix} |", *(f"{area:.2f} |" for area in np.mean(draws, axis=0)))


if __name__ == "__main__":
    there = dict(every(Path(sys.argv[1])))
    print("| outputs | mix | rules differ | signed | eq. 11 | own rule | signed less eq. 11 |")
    print("|---" * 7 + "|")
    for name, outputs in there.items():
        forms(name, outputs)
    print("\n| outputs | mix | SIRC, rows of the fit | others | ViM, rows of the fit | others |")
    print("|---" * 6 + "|")
    for name, outputs in there.items():
        if outputs.features is not None:
            constants(name, outputs)
