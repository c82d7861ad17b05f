"""Closed forms, fluid and hybrid models of congestion control, without packets."""
