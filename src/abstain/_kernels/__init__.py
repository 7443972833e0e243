"""The few hot loops of the project, and the only package that uses Numba: see README.md in this folder."""
