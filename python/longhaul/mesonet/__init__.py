"""Runs of MesoNet: their tables, figures, plots, and files as the original writes them."""

from longhaul._engine import Interval
from longhaul.mesonet.summary import Summary
from longhaul.mesonet.tables import MesoNet

__all__ = ["Interval", "MesoNet", "Summary"]
