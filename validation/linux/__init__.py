"""Comparison of Longhaul's profile `linux` with recordings of Linux 6.18."""
