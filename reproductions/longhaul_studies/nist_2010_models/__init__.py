"""Fluid and hybrid models against packets: appendices A and B of NIST SP 500-282 (2010)."""
