"""Longhaul beside ns-2 2.35: the same cases in both, compared figure by figure."""
