"""Section 4.3.3: the same connections under two protocols, by round trip and size."""
