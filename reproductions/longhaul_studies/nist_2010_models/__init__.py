"""Fluid and hybrid models of NIST SP 500-282 (2010, appendices A and B), and simulations."""
