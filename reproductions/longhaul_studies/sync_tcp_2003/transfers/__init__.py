"""Long transfers: reduction of runs, metrics, measures and figures."""
