"""Comparison of the profile `linux` with modules of a Linux kernel in the same simulations."""
