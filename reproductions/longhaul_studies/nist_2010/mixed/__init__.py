"""Chapters 8 and 9: standard TCP and one alternate in the same network."""
