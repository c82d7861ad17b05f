"""Closed forms, fluid and hybrid models: congestion control without a packet."""
