"""Comparison of fluid models with packet simulation, for ten flows of each modelled algorithm."""
