"""Loads, arrivals and sizes of the web traffic, and their convergence (appendix A)."""
