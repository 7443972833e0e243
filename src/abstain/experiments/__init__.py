"""Experiments on real data, each one file."""
