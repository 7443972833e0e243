"""Scores compared on one model's outputs, over several draws of the rows they are fitted on."""
