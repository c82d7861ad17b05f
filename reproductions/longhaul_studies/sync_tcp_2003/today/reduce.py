"""Reduction of the data of a run with web traffic, as in `sync_tcp_2003.web`."""

from longhaul_studies.sync_tcp_2003.web.reduce import reduce

__all__ = ["reduce"]
