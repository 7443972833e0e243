"""Hostile files and command lines, bounded and seeded: none may give a wrong result or a traceback.

Usage: scripts/fuzz [--tries N] [--seed S] [--at NUMBER] [KIND …]. Every try has a generator of its own, made of the
seed, the kind and its number, so that a finding is seen again with --at.
"""

import argparse
import os
import resource
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from arrays import Archives, Arrays
from commands import Commands
from graphs import Graphs
from headers import Headers
from json_lines import JsonLines
from kernel_files import Kernels
from kind import Kind, Wrong
from monitors import Monitors
from paths import Paths
from request_bodies import Requests
from selector_files import Selectors
from shard_files import Shards
from sketch_files import Sketches
from tables import Parquets, Tables
from values import Values
from watches import Watches

FILES = (
    Arrays,
    Archives,
    Headers,
    Tables,
    JsonLines,
    Parquets,
    Selectors,
    Sketches,
    Monitors,
    Watches,
    Graphs,
    Kernels,
    Shards,
)
KINDS: dict[str, type[Kind]] = {kind.name: kind for kind in (*FILES, Values, Paths, Commands, Requests)}
COLUMNS = ("refused", "taken", "wrong", "traceback")
MEMORY = 12 << 30  # bytes that can be written to: whoever asks for more gets an error, and the machine goes on
SHOWN = 8


def main() -> int:
    """Try the kinds named, or all; the exit code says whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=1000, help="of each kind; slow ones take a share of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at", type=int, help="the number of the one try to make")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"a KIND must be one of {', '.join(KINDS)}, got {min(unknown)}")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    print(f"{'kind':10}{'tried':>8}" + "".join(f"{column:>11}" for column in COLUMNS) + f"{'seconds':>9}")
    clean = [_try(name, options) for name in options.kinds or KINDS]
    return 0 if all(clean) else 1


def _try(name: str, options: argparse.Namespace) -> bool:
    """One line of the table, and the first findings; whether there were none."""
    start, counts, findings = time.perf_counter(), Counter(), []
    tries = max(1, round(options.tries * KINDS[name].share))
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        kind = KINDS[name](Path(folder))
        for number in range(tries) if options.at is None else [options.at]:
            result, words = _outcome(kind, np.random.default_rng([options.seed, *name.encode(), number]), options)
            counts[result] += 1
            if words:
                findings.append(f"  {result} at {number}: {words}")
        os.chdir(home)
    cells = "".join(f"{counts[column]:>11,}" for column in COLUMNS)
    print(f"{name:10}{counts.total():>8,}{cells}{time.perf_counter() - start:>9.0f}", flush=True)
    print(*findings[:SHOWN], sep="\n", end="\n" if findings else "", flush=True)
    return not findings


def _outcome(kind: Kind, rng: np.random.Generator, options: argparse.Namespace) -> tuple[str, str]:
    try:
        return kind.attempt(rng), ""
    except Wrong as error:
        return "wrong", str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # what escapes is what is looked for
        if options.at is not None:
            raise
        return "traceback", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


if __name__ == "__main__":
    raise SystemExit(main())
