"""Longhaul's profile `linux` beside Linux 6.18: recorded cases, simulated again."""
