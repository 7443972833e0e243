"""The figures of an evaluation."""
