"""The learned score on many models, compared with every other score."""
