"""Experiments that train networks, with several seeds."""
