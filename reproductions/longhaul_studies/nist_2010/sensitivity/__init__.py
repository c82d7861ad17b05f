"""Sensitivity analyses of MesoNet's parameters (chapter 4, appendices C and D)."""
