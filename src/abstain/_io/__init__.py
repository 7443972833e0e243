"""Files written whole or not at all, sealed formats, fingerprints."""
