"""Comparison of mean windows on a network with published response functions."""
