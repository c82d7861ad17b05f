"""Example scenarios, the demonstration, and lists of names."""
