"""Example scenarios, the demonstration, and the lists that `longhaul list` prints."""
