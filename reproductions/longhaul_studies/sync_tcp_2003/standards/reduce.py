"""Reduction of a run, the same as for all web traffic."""

from longhaul_studies.sync_tcp_2003.web.reduce import reduce

__all__ = ["reduce"]
