"""Comparison of the profile `linux` with a kernel's modules in the same simulations."""
