"""Section 4.3.2: the flow with the largest response, traced at each ACK."""
