"""The words of `where`: what they are called, and which of them belong together."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from longhaul.studies.selection import Word

Words = Mapping[str, Word]
Key = tuple[Any, ...]
# Of a point; in several samples an array.
Number = float | np.ndarray

# Words that are no levels of axes.
SELECTING = ("of", "metric")
COMPARING = ("less", "over", "with", "against")
SHAPING = ("along", "each", "order", "then", "above", "below", "whole", "by", "runs")
# How words begin that select points by another metric.
WHEN = "when."
SEVERAL = ","
# Between levels that share a place of an order.
SHARED = "+"
METRIC = "metric"
# The only values of `by` and of `runs`.
BY, RUNS = "replication", "each"


def split(where: Words) -> tuple[dict[str, Word], dict[str, Words]]:
    """The words of `where`, and those of each comparison."""
    chosen: dict[str, Word] = {}
    compared: dict[str, dict[str, Word]] = {}
    for word, value in where.items():
        start, dot, rest = word.partition(".")
        if dot and start in COMPARING:
            compared.setdefault(start, {})[rest] = value
        else:
            chosen[word] = value
    return chosen, dict(compared)
