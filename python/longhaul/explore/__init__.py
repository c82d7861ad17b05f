"""The explorer: one self-contained HTML page over runs or a campaign, with linked views.

The page's script is written in TypeScript (`explorer/` in the source tree) and shipped compiled;
this package collects the data and writes the page.
"""

from longhaul.explore.page import explore

__all__ = ["explore"]
