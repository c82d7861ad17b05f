"""Sensitivity analyses of MesoNet's parameters (NIST SP 500-282, chapter 4, appendices C, D)."""
