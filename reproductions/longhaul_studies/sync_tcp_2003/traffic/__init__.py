"""Appendix A: loads, arrivals and sizes of the web traffic, and their convergence."""
