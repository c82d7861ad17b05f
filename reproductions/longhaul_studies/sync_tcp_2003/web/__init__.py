"""Web traffic: what is kept of runs, metrics, measures and figures."""
