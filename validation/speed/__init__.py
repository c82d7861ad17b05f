"""Speed and memory of Longhaul, beside ns-2 and against the size of the problem."""
