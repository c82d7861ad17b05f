"""Analysis of traffic that opens connections.

Distributions, long-range dependence, convergence, and the same connections under two protocols.
"""
