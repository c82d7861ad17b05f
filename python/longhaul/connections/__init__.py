"""Connections over links as a kind of simulation: what most scenarios describe."""
