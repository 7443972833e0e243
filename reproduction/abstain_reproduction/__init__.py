"""The paper's experiments and ours, each with its claims: a package for each kind, `registry` has them by name."""
