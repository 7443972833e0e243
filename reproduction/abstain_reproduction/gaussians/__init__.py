"""The paper's four Gaussians, where everything can be computed exactly: §3.1, §3.3, App. B and App. D."""
