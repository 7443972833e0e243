"""Compile every kernel ahead, so that no later call waits for it: `python -m abstain._kernels`.

As `python -m abstain._kernels late`, only the late ones, for the kind of logits that a line of standard input names:
in the background of a process that will need them (`abstain._kernels.background`).
"""

import gc
import importlib
import os
import pkgutil
import signal
import sys
import time
from typing import Any, final

from numba.core import event, types

import abstain._kernels
from abstain._kernels.compilation import AHEAD, LATE, Kinds


def main() -> None:
    """Compile what is not on disk yet: into the package or, where that cannot be written, the user's cache."""
    begun, parent = time.perf_counter(), os.getppid()
    gc.disable()  # compiling makes little garbage and many objects to look at
    for module in pkgutil.iter_modules(abstain._kernels.__path__):
        if module.name != "__main__":
            importlib.import_module(f"abstain._kernels.{module.name}")
    if sys.argv[1:] == ["late"]:
        _compile_late(sys.stdin.readline().strip(), parent)
        return
    for kernel, way in AHEAD:
        kernel.compile(way)
    print(f"{len(AHEAD)} kernels compiled or at hand in {time.perf_counter() - begun:.1f} s.", file=sys.stderr)


def _compile_late(kind: str, parent: int) -> None:
    """Each late kernel in the first way that suits the kind of logits, until whoever started this is gone."""
    with event.install_listener("numba:compile", _Endable()):
        for kernel in sorted(LATE, key=LATE.__getitem__):
            way = next((way for other, way in AHEAD if other is kernel and _suits(way, kind)), None)
            if way is not None and os.getppid() == parent:
                kernel.compile(way)


def _suits(way: Kinds, kind: str) -> bool:
    """Whether what is read first is of this kind, or is no logits."""
    return str(way[0].dtype) == kind or not isinstance(way[0].dtype, types.Float)


@final
class _Endable(event.Listener):
    """Lets the process be ended while it compiles, and not while it writes what it has compiled."""

    depth = 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        self.depth += 1
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self.depth -= 1
        if not self.depth:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


if __name__ == "__main__":
    main()
