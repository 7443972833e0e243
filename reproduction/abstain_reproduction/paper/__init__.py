"""The paper's tables, and its claims about scores."""
