"""Experiments on models and data that come in packages."""
