"""Web traffic: reduction of runs, metrics, measures and figures."""
