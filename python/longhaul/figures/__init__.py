"""Metrics of runs ("figures"), each declared once, with the function that computes it.

A metric belongs to a `run`, to the flows of a `label`, to a `link`, or to a `proxy`. Summaries,
comparisons, analyses, responses of campaigns, evaluations, pages and axes of plots read its unit,
title and meaning from the registry (`longhaul.figures.registry`), mostly by its path with
`longhaul.figures.words`. A new figure is declared in `labels`, `links`, `proxies` or `runs`.
"""

from longhaul.figures.registry import Figure, every, find

__all__ = ["Figure", "every", "find"]
