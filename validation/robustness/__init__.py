"""Tests of robustness: mutated scenarios, and invariants of random scenarios."""
