"""The few hot loops of the project, and the only package that uses Numba: see README.md beside this file."""

import sys


def import_numba_alone() -> None:
    """Import Numba while SciPy's BLAS seems missing, which Numba wants for inner products only and no kernel uses.

    SciPy's linear algebra takes an eighth of the time of a first evaluation to import. For a process of one thread, in
    which nothing else imports at the same time.
    """
    blas = "scipy.linalg.cython_blas"
    if blas in sys.modules:
        return
    sys.modules[blas] = None  # Python then reports the module as missing
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[blas]
