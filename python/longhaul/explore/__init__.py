"""The explorer: one HTML page with linked views of runs or a campaign, without external files.

The script of the page is written in TypeScript (`explorer/` in the source tree) and is shipped
compiled. This package collects the data and writes the page.
"""

from longhaul.explore.page import explore

__all__ = ["explore"]
