"""The flow with the largest response, its window traced at each ACK (section 4.3.1)."""
