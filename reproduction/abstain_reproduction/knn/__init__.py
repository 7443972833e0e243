"""KNN over its number of neighbours: App. H."""
