"""The explorer: one self-contained HTML page over runs or a campaign, with linked views.

The page's script is written in TypeScript (`explorer/` in the source tree) and shipped built; here
its data are collected and put into the page.
"""

from longhaul.explore.page import explore

__all__ = ["explore"]
