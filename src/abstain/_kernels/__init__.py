"""The few hot loops of the project, and the only package that uses Numba: see README.md beside this file."""
