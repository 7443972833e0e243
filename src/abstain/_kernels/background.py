"""A second process that compiles, at the same time as the first, the kernels that the first calls later.

The first process looks on disk before it compiles a kernel, and there it finds what the second has compiled. No result
depends on the second process: if it fails, the first compiles more.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, final

from numba.core import event

import abstain._kernels.row_sums  # noqa: F401  # the first kernel that an evaluation meets
from abstain._kernels.blocks import usable_cores
from abstain._kernels.compilation import AHEAD


@contextmanager
def compiling_in_background() -> Iterator[None]:
    """Inside the context, run a second process, if the cache is empty or once a kernel is missing there.

    For commands: a library must not start processes in a program that may not expect them.
    """
    helps = usable_cores() > 1 and hasattr(signal, "pthread_sigmask")  # by which it is never ended while it writes
    if not helps or sys.flags.ignore_environment:  # which may name other folders to import from
        yield
        return
    second = _Second()
    try:
        if _is_cache_empty():
            second.start()
        with event.install_listener("numba:compile", second):
            yield
    finally:
        second.end()


def _is_cache_empty() -> bool:
    """Whether the folder of all kernels holds none."""
    folder = AHEAD[0][0].stats.cache_path
    return folder is not None and not any(Path(folder).glob("*.kernel"))


@final
class _Second(event.Listener):
    """The second process; it receives the type of the logits when the first process compiles a kernel for it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._has_kind = False

    def start(self) -> None:
        words = [sys.executable, "-P", "-B", "-m", "abstain._kernels", "late"]
        quiet = subprocess.DEVNULL
        with suppress(OSError):  # Ctrl-C goes to the first process only, which then ends the second
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, process_group=0, bufsize=0
            )

    def on_start(self, event: Any) -> None:
        if self._has_kind:
            return
        self._has_kind = True
        if self._process is None:
            self.start()
        if self._process is not None and self._process.stdin is not None:
            kind = next((getattr(kind, "dtype", "") for kind in event.data["args"]), "")
            with suppress(OSError):
                self._process.stdin.write(f"{kind}\n".encode())

    def on_end(self, event: Any) -> None:
        pass

    def end(self) -> None:
        if self._process is not None:
            self._process.terminate()
            with self._process:
                pass
