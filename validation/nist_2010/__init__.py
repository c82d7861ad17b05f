"""Analyses of NIST SP 500-282 (Mills et al. 2010), repeated from the values in its tables."""
