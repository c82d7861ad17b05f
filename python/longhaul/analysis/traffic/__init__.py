"""Analysis of traffic in which many connections open and close.

It covers distributions, long-range dependence, convergence, and the comparison of the same
connections under two protocols.
"""
