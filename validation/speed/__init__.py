"""Measurements of speed and memory, also against ns-2 and the size of the problem."""
