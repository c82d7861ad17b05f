"""Chapters 8 and 9 of NIST SP 500-282: standard TCP and one alternate algorithm in a network."""
