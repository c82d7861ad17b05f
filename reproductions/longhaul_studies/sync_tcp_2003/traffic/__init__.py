"""Appendix A: the web traffic itself, its loads, arrivals, sizes and how they settle."""
