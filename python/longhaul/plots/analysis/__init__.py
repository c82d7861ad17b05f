"""Plots of analyses; each function returns a Matplotlib figure."""
