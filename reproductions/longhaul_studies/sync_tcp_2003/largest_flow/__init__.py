"""Section 4.3.2: the flow with the largest response, with its window traced at each ACK."""
