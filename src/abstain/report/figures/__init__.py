"""The look of figures, and their files."""
