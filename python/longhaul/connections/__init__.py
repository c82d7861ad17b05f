"""Connections over links as a kind of simulation, the most frequent one."""
