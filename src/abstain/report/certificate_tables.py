"""A certificate as facts and tables, laid out once for Markdown and the page."""

from abstain.selector.calibration_data import SliceCounts
from abstain.selector.certificate import Certificate
from abstain.selector.certificate_words import compared_words, in_percent, mark
from abstain.thresholds.promise import COST

SHOWN = 50  # rows of a table of slices
Facts = list[tuple[str, str]]


def certificate_facts(certificate: Certificate, /) -> dict[str, Facts]:
    """The selector, the rows it was calibrated on, the fresh ones, and the software, by title."""
    one, data, fresh = certificate.selector, certificate.calibration, certificate.fresh
    is_cost = any(promise.quantity == COST for promise in certificate.promises)
    total = "" if one.errors is None else f"{one.errors:,.6g}"
    wrong = "" if not total else f", which cost {total} in all" if is_cost else f", {total} of them wrong"
    groups = sum(value < float("inf") for value in one.group_thresholds.values())
    rule = f"> {one.threshold:.6g}" if one.per is None else f"above the threshold of its {one.per} ({groups} have one)"
    found: dict[str, Facts] = {
        "The selector": [
            ("Accepts iff", f"{one.score} {rule}"),
            ("Method", one.method),
            ("Accepted in calibration", f"{one.accepted:,} of {one.calibrated_rows:,} rows{wrong}"),
            ("SHA-256", one.digest),
            *([("File", certificate.sources["selector"])] if "selector" in certificate.sources else []),
        ]
    }
    if data is not None:
        found["The rows it was calibrated on"] = [
            ("Rows", f"{data.rows:,} of {data.samples:,} samples, {data.unusable:,} not usable"),
            ("Held out to choose or fit the score", f"{data.held_out:,}"),
            ("Rows of the largest cluster", f"{data.largest:,}"),
            ("SHA-256", data.digest),
        ]
    if fresh is not None:
        found["The fresh rows"] = [
            ("Rows", f"{fresh.rows:,} of {fresh.samples:,} samples, {fresh.unusable:,} not usable"),
            ("Of these calibrated it", compared_words(fresh)),
            ("Accepted", f"{fresh.accepted:,} ({in_percent(fresh.accepted, fresh.rows)})"),
            ("Of these wrong", f"{fresh.errors:,} ({in_percent(fresh.errors, fresh.accepted)})"),
            ("Level of the tests together", f"{fresh.level:g}"),
            ("SHA-256", fresh.digest),
            *([("Outputs", certificate.sources["on"])] if "on" in certificate.sources else []),
        ]
        if fresh.unseen:
            found["The fresh rows"].append(("Groups that calibration did not have, rejected", ", ".join(fresh.unseen)))
    found["Software"] = list(certificate.software.items())
    return found


def slice_tables(certificate: Certificate, /) -> dict[str, list[tuple[str, ...]]]:
    """By title, a row for each class or domain: name, rows, accepted, coverage, wrong, risk, remark.

    Those above the promise come first, then those with the most rows accepted; of many some are left out.
    """
    data, fresh = certificate.calibration, certificate.fresh
    found = {}
    if data is not None:
        for kind, counts in (("predicted class", data.classes), ("group", data.domains)):
            found[f"Calibration, by {kind}"] = [(one, "") for one in counts]
    if fresh is not None:
        for kind, tests in (("predicted class", fresh.classes), ("group", fresh.domains)):
            found[f"Fresh rows, by {kind}"] = [(one.counts, mark(one)) for one in tests]
    return {title: _rows(each) for title, each in found.items() if each}


COLUMNS = ("name", "rows", "accepted", "coverage", "wrong", "risk", "")


def _rows(each: list[tuple[SliceCounts, str]]) -> list[tuple[str, ...]]:
    ordered = sorted(each, key=lambda pair: (not pair[1], -pair[0].accepted, pair[0].name))
    rows: list[tuple[str, ...]] = [
        (
            one.name,
            f"{one.n:,}",
            f"{one.accepted:,}",
            in_percent(one.accepted, one.n),
            f"{one.errors:,}",
            in_percent(one.errors, one.accepted),
            remark,
        )
        for one, remark in ordered[:SHOWN]
    ]
    left = len(ordered) - SHOWN
    return [*rows, (f"{left:,} more", *([""] * 6))] if left > 0 else rows
