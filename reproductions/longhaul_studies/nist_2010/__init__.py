"""Proposed Internet congestion control mechanisms, as studied by NIST (SP 500-282, 2010)."""
