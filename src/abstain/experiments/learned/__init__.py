"""The learned score on many models, beside every other score."""
