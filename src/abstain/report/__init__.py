"""From an `Evaluation` to what people look at."""
