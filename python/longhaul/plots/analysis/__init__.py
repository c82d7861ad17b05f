"""Plots of analyses; each function returns a figure of matplotlib."""
