"""Figures fit to print, each a file that draws on given axes."""
