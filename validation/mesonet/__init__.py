"""Comparison of MesoNet with values of NIST SP 500-282: `python -m validation.mesonet`."""
