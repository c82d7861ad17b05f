"""Analyses of NIST SP 500-282 (Mills et al. 2010), repeated from its printed tables."""
