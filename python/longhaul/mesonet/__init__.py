"""Runs of MesoNet: their tables, figures, pictures, and files as the original writes them."""

from longhaul._engine import Interval

__all__ = ["Interval"]
