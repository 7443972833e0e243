"""The paper's own tasks, on data and models in local folders."""
