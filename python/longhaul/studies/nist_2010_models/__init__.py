"""Fluid and hybrid models beside packets: appendices A and B of NIST SP 500-282 (2010)."""
