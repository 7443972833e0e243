"""The few hot loops of the project, and the only place that uses Numba."""
