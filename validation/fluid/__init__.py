"""Fluid models compared with packets: ten flows of each algorithm that has a model."""
