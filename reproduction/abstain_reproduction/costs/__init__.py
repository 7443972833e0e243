"""Costs that differ by class: an open question of the paper (§5)."""
