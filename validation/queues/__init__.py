"""Comparison of queue disciplines with those of the Linux kernel, packet by packet."""
