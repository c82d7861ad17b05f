"""The most frequent kind of simulation: connections over links."""
