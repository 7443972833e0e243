"""Estimates of risk without labels, measured on real models and shifts."""
