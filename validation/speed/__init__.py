"""Measurements of speed and memory, also compared with ns-2 and for networks of growing size."""
