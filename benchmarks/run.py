"""Speed as ratios against peers, measured in the same run, and guarantees over thousands of calibrations.

Usage: scripts/bench [--quick] [--json FILE] [--markdown FILE] [NAME …]. Without names the whole suite of speed runs, in
under two minutes with --quick. Both sides of a ratio are measured in turn, with two threads for everyone, and the
shortest times count: machines differ and are noisy, ratios less so. Names of guarantees run those instead.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from areas import areas, pairs
from cascade_guarantees import cascade_guarantees
from cascades import cascades
from class_sets import class_sets
from cluster_distributions import cluster_distributions
from decisions import decisions
from evaluations import demo, from_disk
from false_positives import comparisons, refutations
from finding import Finding
from fitted_scores import fitted
from former_breaks import former_breaks
from graded_losses import graded_losses
from guarantees import adversary, choosing, guarantees, hard_cases, labels_saved, monitors, other_guarantees
from labels_above import labels_above
from logits import classes, logits
from monitor_clusters import monitor_clusters
from monitor_groups import monitor_groups
from monitor_speed import monitor_speed
from peers import peers
from prediction_powered import prediction_powered
from rejected_guarantees import rejected_guarantees
from restarts import restarts
from serving import serving
from sketches import sketches
from small_samples import small_samples
from start import start

SPEED: dict[str, Callable[[bool], Iterator[Finding]]] = {
    "areas": areas,
    "pairs": pairs,
    "logits": logits,
    "classes": classes,
    "fitted": fitted,
    "from_disk": from_disk,
    "demo": demo,
    "sketches": sketches,
    "start": start,
    "serving": serving,
    "monitor_speed": monitor_speed,
}
GUARANTEES: dict[str, Callable[[], bool]] = {
    "decisions": decisions,
    "guarantees": guarantees,
    "hard_cases": hard_cases,
    "adversary": adversary,
    "other_guarantees": other_guarantees,
    "labels_saved": labels_saved,
    "labels_above": labels_above,
    "former_breaks": former_breaks,
    "choosing": choosing,
    "monitors": monitors,
    "monitor_clusters": monitor_clusters,
    "monitor_groups": monitor_groups,
    "comparisons": comparisons,
    "refutations": refutations,
    "cluster_distributions": cluster_distributions,
    "peers": peers,
    "cascades": cascades,
    "cascade_guarantees": cascade_guarantees,
    "class_sets": class_sets,
    "prediction_powered": prediction_powered,
    "rejected_guarantees": rejected_guarantees,
    "small_samples": small_samples,
    "graded_losses": graded_losses,
    "restarts": restarts,
}
PEERS = (
    "numpy",
    "scipy",
    "numba",
    "torch",
    "scikit-learn",
    "torchmetrics",
    "torch-uncertainty",
    "pytorch-ood",
    "faiss-cpu",
    "mapie",
    "fastapi",
    "onnxruntime",
)


def main() -> int:
    """Run the benchmarks named, or the suite of speed; the exit code says whether every goal is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((*SPEED, *GUARANTEES)))
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds")
    parser.add_argument("--json", type=Path, help="write the findings here")
    parser.add_argument("--markdown", type=Path, help="write a table here")
    asked = parser.parse_args()
    for unknown in set(asked.names) - set(SPEED) - set(GUARANTEES):
        parser.error(f"no benchmark {unknown!r}; there are {', '.join((*SPEED, *GUARANTEES))}")
    kept = [GUARANTEES[name]() for name in asked.names if name in GUARANTEES]
    begun, findings = time.monotonic(), []
    for name in [name for name in asked.names or SPEED if name in SPEED]:
        for finding in SPEED[name](asked.quick):
            print(finding.words(), flush=True)
            findings.append(finding)
    if findings:
        document = _about() | {"seconds": round(time.monotonic() - begun), "quick": asked.quick}
        document["findings"] = [asdict(finding) | {"met": finding.met} for finding in findings]
        missed = [finding for finding in findings if not finding.met]
        print(f"{len(findings) - len(missed)} of {len(findings)} goals met in {document['seconds']} s.")
        if asked.json:
            asked.json.write_text(json.dumps(document, indent=1) + "\n")
        if asked.markdown:
            asked.markdown.write_text(_markdown(document, findings))
        kept.append(not missed)
    return 0 if all(kept) else 1


def _about() -> dict[str, object]:
    """The machine, the day and the versions."""
    return {
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {name: installed for name in PEERS if (installed := _version(name))},
    }


def _processor() -> str:
    """The name of the processor, with the widest vectors it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    wide = next((wide for wide in ("avx512f", "avx2") if wide in facts.get("flags", "").split()), "no wide vectors")
    return f"{facts.get('model name', platform.machine())} ({wide})"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _markdown(document: dict[str, object], findings: list[Finding]) -> str:
    lines = ["| what | against | found | goal |", "|---|---|---:|---:|"]
    for finding in findings:
        bound = "≥" if finding.kind == "faster" else "≤"
        goal = "–" if finding.goal is None else f"{bound} {finding.goal:g}{'' if finding.met else ' (missed)'}"
        unit = {"faster": "×", "slower": "×", "seconds": " s", "megabytes": " MB", "exponent": "", "share": ""}[
            finding.kind
        ]
        lines.append(f"| {finding.what} | {finding.against} | {finding.value:.3g}{unit} | {goal} |")
    versions = ", ".join(f"{name} {number}" for name, number in document["versions"].items())  # type: ignore[attr-defined]
    return "\n".join(lines) + f"\n\n{document['machine']}, {document['date']}. {versions}.\n"


if __name__ == "__main__":
    sys.exit(main())
