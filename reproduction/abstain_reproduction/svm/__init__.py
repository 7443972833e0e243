"""Multiclass support vector machines and their two margins: App. A."""
