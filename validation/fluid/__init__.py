"""Comparison of fluid models with packet simulations of ten flows, for each modelled algorithm."""
