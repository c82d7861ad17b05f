"""Fluid models beside packets: ten flows of each algorithm that has a model."""
