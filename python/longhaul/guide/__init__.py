"""Example scenarios, and the lists that `longhaul list` prints."""
