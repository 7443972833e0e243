"""Compile every kernel ahead of time, so that no later call waits: `python -m abstain._kernels`.

`python -m abstain._kernels late` compiles only the kernels marked as late, for the type of logits that a line of
standard input names; `abstain._kernels.background` starts it.
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
    """Compile what is not in the cache of the user yet."""
    begun, parent = time.perf_counter(), os.getppid()
    gc.disable()  # compiling creates many objects and little garbage
    for module in pkgutil.iter_modules(abstain._kernels.__path__):
        if module.name != "__main__":
            importlib.import_module(f"abstain._kernels.{module.name}")
    if sys.argv[1:] == ["late"]:
        _compile_late(sys.stdin.readline().strip(), parent)
        return
    for kernel, way in AHEAD:
        kernel.compile(way)
    print(f"{len(AHEAD)} kernels compiled or loaded in {time.perf_counter() - begun:.1f} s.", file=sys.stderr)


def _compile_late(kind: str, parent: int) -> None:
    """Compile each late kernel for this type of logits, until the process that started this one has ended."""
    with event.install_listener("numba:compile", _Endable()):
        for kernel in sorted(LATE, key=LATE.__getitem__):
            way = next((way for other, way in AHEAD if other is kernel and _suits(way, kind)), None)
            if way is not None and os.getppid() == parent:
                kernel.compile(way)


def _suits(way: Kinds, kind: str) -> bool:
    """Whether the first argument has this type, or is not one of logits."""
    return str(way[0].dtype) == kind or not isinstance(way[0].dtype, types.Float)


@final
class _Endable(event.Listener):
    """Lets the process be terminated while it compiles, but not while it writes to the cache."""

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
