"""Runs of MesoNet: their tables, figures, pictures, and files as the original writes them."""
