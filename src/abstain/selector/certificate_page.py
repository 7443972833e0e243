"""A certificate as Markdown and as one self-contained page."""

from abstain.report.page import Html, Section, TableCell, document, name, render, table
from abstain.report.tables import inline, markdown_lines
from abstain.selector.calibration_data import SliceCounts
from abstain.selector.certificate import Certificate, FreshData
from abstain.selector.certificate_words import (
    compared_words,
    findings,
    guarantee_words,
    in_percent,
    mark,
    verdict_words,
)
from abstain.thresholds.guarantee import Quantity

SHOWN = 50  # rows of a table of slices
Facts = list[tuple[str, str]]


def certificate_facts(certificate: Certificate, /) -> dict[str, Facts]:
    """The selector, the rows it was calibrated on, the fresh ones, and the software, by title."""
    data = certificate.calibration
    facts = {"The selector": _selector_facts(certificate)}
    if data is not None:
        facts["The rows it was calibrated on"] = [
            ("Rows", f"{data.rows:,} of {data.samples:,} samples, {data.unusable:,} non-finite"),
            ("Held out to choose or fit the score", f"{data.held_out:,}"),
            ("Rows of the largest cluster", f"{data.largest:,}"),
            ("SHA-256", data.digest),
        ]
    if certificate.fresh is not None:
        facts["The fresh rows"] = _fresh_facts(certificate.fresh, certificate.sources.get("on"))
    return facts | {"Software": list(certificate.software.items())}


def _selector_facts(certificate: Certificate) -> Facts:
    selector = certificate.selector
    is_cost = any(guarantee.quantity is Quantity.COST for guarantee in certificate.guarantees)
    total = "" if selector.errors is None else f"{selector.errors:,.6g}"
    wrong = "" if not total else f", which cost {total} in all" if is_cost else f", {total} of them wrong"
    if (
        selector.errors is not None
        and selector.accepted
        and any(g.quantity.event == "loss" for g in certificate.guarantees)
    ):
        wrong = f", with a mean loss of {selector.errors / selector.accepted:.4g}"
    groups = sum(value < float("inf") for value in selector.group_thresholds.values())
    rule = (
        f"> {selector.threshold:.6g}"
        if selector.per is None
        else f"above the threshold of its {selector.per} ({groups} have one)"
    )
    return [
        ("Accepts iff", f"{selector.score} {rule}"),
        ("Method", selector.method),
        ("Accepted in calibration", f"{selector.accepted:,} of {selector.calibrated_rows:,} rows{wrong}"),
        ("SHA-256", selector.digest),
        *([("File", certificate.sources["selector"])] if "selector" in certificate.sources else []),
    ]


def _fresh_facts(fresh: FreshData, source: str | None) -> Facts:
    unseen = [("Groups that calibration did not have, rejected", ", ".join(fresh.unseen))] if fresh.unseen else []
    return [
        ("Rows", f"{fresh.rows:,} of {fresh.samples:,} samples, {fresh.unusable:,} non-finite"),
        ("Of these calibrated it", compared_words(fresh)),
        ("Accepted", f"{fresh.accepted:,} ({in_percent(fresh.accepted, fresh.rows)})"),
        *([] if fresh.audited is None else [("Of these audited", f"{fresh.audited:,}")]),
        _outcome_fact(fresh),
        ("Level of the tests together", f"{fresh.level:g}"),
        ("SHA-256", fresh.digest),
        *([] if source is None else [("Outputs", source)]),
        *unseen,
    ]


def _outcome_fact(fresh: FreshData) -> tuple[str, str]:
    labelled = fresh.audited or fresh.accepted
    if isinstance(fresh.errors, int):
        return "Of these wrong", f"{fresh.errors:,} ({in_percent(fresh.errors, labelled)})"
    return "Their mean loss", f"{fresh.errors / labelled:.4g}" if labelled else "–"


def slice_tables(certificate: Certificate, /) -> dict[str, list[tuple[str, ...]]]:
    """By title, a row for each class or domain: name, rows, accepted, coverage, wrong, risk, remark.

    Those above the guarantee come first, then those with the most rows accepted; of many some are left out.
    """
    data, fresh = certificate.calibration, certificate.fresh
    tables = {}
    if data is not None:
        for kind, counts in (("predicted class", data.classes), ("group", data.domains)):
            tables[f"Calibration, by {kind}"] = [(count, "") for count in counts]
    if fresh is not None:
        for kind, tests in (("predicted class", fresh.classes), ("group", fresh.domains)):
            tables[f"Fresh rows, by {kind}"] = [(test.counts, mark(test)) for test in tests]
        tables["Fresh rows of a true class, by group"] = [(test.counts, mark(test)) for test in fresh.missed]
    return {title: _rows(each) for title, each in tables.items() if each}


COLUMNS = ("name", "rows", "accepted", "coverage", "wrong", "risk", "")


def _rows(each: list[tuple[SliceCounts, str]]) -> list[tuple[str, ...]]:
    ordered = sorted(each, key=lambda pair: (not pair[1], -pair[0].accepted, pair[0].name))
    rows: list[tuple[str, ...]] = [
        (
            counts.name,
            f"{counts.n:,}",
            f"{counts.accepted:,}",
            in_percent(counts.accepted, counts.n),
            f"{counts.errors:,.6g}",
            in_percent(counts.errors, counts.accepted),
            remark,
        )
        for counts, remark in ordered[:SHOWN]
    ]
    left = len(ordered) - SHOWN
    return [*rows, (f"{left:,} more", *([""] * 6))] if left > 0 else rows


def certificate_markdown(certificate: Certificate, /) -> str:
    """The guarantee, what the fresh rows say, the data, slices and versions."""
    lines = ["# Certificate", "", *(f"> {inline(words)}\n" for words in guarantee_words(certificate))]
    lines += [f"**{inline(verdict_words(certificate))}**", ""]
    if sentences := findings(certificate):
        lines += [*(f"- {inline(words)}" for words in sentences), ""]
    for title, facts in certificate_facts(certificate).items():
        cells = [(inline(name), inline(value)) for name, value in facts]
        lines += [f"## {title}", "", *markdown_lines(["", ""], cells), ""]
    for title, rows in slice_tables(certificate).items():
        named = [(inline(name), *rest) for name, *rest in rows]
        lines += [f"## {title}", "", *markdown_lines(COLUMNS, named, numbers=len(COLUMNS) - 1), ""]
    return "\n".join(lines).rstrip() + "\n"


def certificate_page(certificate: Certificate, /) -> str:
    """The HTML of the page."""
    facts = certificate_facts(certificate)
    software, tables = facts.pop("Software"), _slices(certificate)
    sections = [
        Section(name="guarantee", title="The guarantee", html=_guarantee(certificate)),
        Section(name="data", title="What it rests on", html=render("facts.html", facts=facts)),
        *([Section(name="slices", title="Classes and groups", html=tables)] if tables else []),
        Section(name="software", title="Software", html=render("facts.html", facts={"": software})),
    ]
    return document("Certificate of a selector", sections, subtitle=certificate.sources.get("selector", ""))


def _guarantee(certificate: Certificate) -> Html:
    colours = {"refuted": "bad", "too little data": "caution", "not tested": "caution"}
    return render(
        "certificate.html",
        guarantee=guarantee_words(certificate),
        colour=colours.get(certificate.verdict, ""),
        verdict=verdict_words(certificate),
        findings=findings(certificate),
    )


def _slices(certificate: Certificate) -> Html:
    columns, numbers = [title or "remark" for title in COLUMNS], range(1, len(COLUMNS) - 1)
    tables = [
        table(
            columns,
            [[TableCell(name(first)), *map(TableCell, rest)] for first, *rest in rows],
            caption=title,
            numbers=numbers,
        )
        for title, rows in slice_tables(certificate).items()
    ]
    return Html("".join(tables))
