"""Comparison of mean windows in simulations with published response functions."""
