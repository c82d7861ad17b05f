"""Measurements of speed and memory, also against ns-2 and for growing flow counts and windows."""
