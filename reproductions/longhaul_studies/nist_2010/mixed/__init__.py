"""Chapters 8 and 9: standard TCP and one alternate algorithm in the same network."""
