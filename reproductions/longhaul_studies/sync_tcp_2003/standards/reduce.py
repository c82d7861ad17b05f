"""Reduction of a run with web traffic, imported from `sync_tcp_2003.web`."""

from longhaul_studies.sync_tcp_2003.web.reduce import reduce

__all__ = ["reduce"]
