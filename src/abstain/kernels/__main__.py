"""Compile every kernel ahead, so that no later call waits for it: `python -m abstain.kernels`."""

import importlib
import pkgutil
import sys
import time

import abstain.kernels
from abstain.kernels.compiled import AHEAD


def main() -> None:
    """Compile what is not on disk yet, beside the package or, where that cannot be written, in the user's cache."""
    begun = time.perf_counter()
    for module in pkgutil.iter_modules(abstain.kernels.__path__):
        if module.name != "__main__":
            importlib.import_module(f"abstain.kernels.{module.name}")
    for kernel, way in AHEAD:
        kernel.compile(way)
    print(f"{len(AHEAD)} kernels compiled or at hand in {time.perf_counter() - begun:.1f} s.", file=sys.stderr)


if __name__ == "__main__":
    main()
