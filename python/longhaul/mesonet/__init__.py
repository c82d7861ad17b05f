"""Runs of MesoNet: tables, summaries, plots, and export in the original's file formats."""

from longhaul._engine import Interval
from longhaul.mesonet.matrix import flow_matrix
from longhaul.mesonet.numbered_responses import responses_of
from longhaul.mesonet.summary import Summary
from longhaul.mesonet.tables import MesoNet

__all__ = ["Interval", "MesoNet", "Summary", "flow_matrix", "responses_of"]
