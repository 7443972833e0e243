"""What a process of our own can leave out to start sooner."""

import sys


def import_numba_alone() -> None:
    """Import Numba while SciPy's BLAS seems missing, which Numba wants for inner products only and no kernel uses.

    SciPy's linear algebra takes as long to import as all the rest that an evaluation needs of Numba. For a process of
    one thread, in which nothing else imports at the same time.
    """
    wanted = "scipy.linalg.cython_blas"
    if wanted in sys.modules:
        return
    sys.modules[wanted] = None  # how Python is told that a module cannot be had
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[wanted]
