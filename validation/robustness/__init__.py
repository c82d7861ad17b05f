"""Robustness: invariants under mutated scenarios, and under kills at any moment."""
