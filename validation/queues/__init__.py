"""Comparison of queue disciplines with the kernel's own, packet by packet."""
