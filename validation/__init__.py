"""Comparisons of Longhaul with other simulators, Linux, published values and laws."""
