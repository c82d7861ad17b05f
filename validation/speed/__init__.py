"""Measurements of speed and memory, also in comparison with ns-2 and for growing problems."""
