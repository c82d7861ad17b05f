"""Tests of robustness: invariants of mutated and of random scenarios."""
