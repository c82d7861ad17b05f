"""Figures of runs: each is declared once, with the function or expression that computes it.

A figure belongs to a `run`, the flows of a `label`, a `link`, or a `proxy`. Summaries, comparisons,
analyses, responses of campaigns, evaluations, pages and axes of plots read its unit, title and
meaning from the registry (`longhaul.figures.words`). To add a figure, declare it in `labels`,
`links`, `proxies` or `runs`.
"""

from longhaul.figures.registry import Figure, every, find

__all__ = ["Figure", "every", "find"]
