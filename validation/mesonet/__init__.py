"""MesoNet beside the figures of NIST SP 500-282: `python -m validation.mesonet`."""
