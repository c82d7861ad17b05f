"""Section 4.3.1: the same connections under two protocols, by round trip and size."""
