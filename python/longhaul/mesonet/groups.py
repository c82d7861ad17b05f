"""Goodput of completed flows by group (NIST SP 500-282, chapter 8; table 8-6 has the groups).

Runs report the flows of a group in batches. The report averages every statistic over the batches of
a run, weighted by their numbers of flows. This average is exact only for the mean: the deviation
within batches is smaller than that of all flows, and a mean of minima is not the minimum. If a run
has a log of flows, `of_flows` computes exact statistics from it.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import polars as pl

FILES = ("movie", "service pack", "document", "web")
PATHS = ("very fast", "fast", "typical")
INTERFACES = ("fast", "normal")
# Roles of sources: standard TCP, or the alternate algorithm.
ROLES = ("standard", "alternate")
# For each group: its number, type of file, path and interface.
GROUPS = tuple(
    (number, *group) for number, group in enumerate(product(FILES, PATHS, INTERFACES), start=1)
)

KEYS = ("group", "file", "path", "interface", "role")
PERCENTS = tuple(range(10, 100, 10))
STATISTICS = (
    "mean_pps", "deviation_pps", "min_pps", "max_pps", *(f"p{percent}_pps" for percent in PERCENTS)
)  # fmt: skip


_NAMED = re.compile(r"(?P<statistic>\w+)_(?P<role>standard|alternate)_(?P<number>\d+)")
_SHORT = {"movie": "M", "service pack": "SP", "document": "D", "web": "WO"}
# Meaning of the letters in short names.
LETTERS = (
    "Flow groups: M movies, SP service packs, D documents, WO web objects; paths VF very fast, F "
    "fast, T typical; interfaces F fast, N normal."
)
# Default speeds of interfaces in packets per second, those of chapters 8 and 9.
INTERFACE_PPS = {"fast": 80_000.0, "normal": 8000.0}


class GroupResponse(NamedTuple):
    """Parts of a response's name: the statistic, the role, and the flow group.

    A group is a type of file, a path, and an interface. The role is `alternate`, for flows of the
    algorithm under test, or `standard`.
    """

    statistic: str
    role: str
    file: str
    path: str
    interface: str


def parts_of(response: str) -> GroupResponse | None:
    """Parse the name of a flow group's response, such as `mean_alternate_7`; otherwise None."""
    parts = _NAMED.fullmatch(response)
    if parts is None or not 1 <= int(parts["number"]) <= len(GROUPS):
        return None
    return GroupResponse(parts["statistic"], parts["role"], *GROUPS[int(parts["number"]) - 1][1:])


def short_name(response: str) -> str:
    """Return the abbreviation of a response's flow group (table 8-6), such as `SP VF-F`.

    A response without a flow group is returned unchanged.
    """
    parts = parts_of(response)
    if parts is None:
        return response
    initials = "".join(word[0].upper() for word in parts.path.split())
    return f"{_SHORT[parts.file]} {initials}-{parts.interface[0].upper()}"


def of_batches(goodput: pl.DataFrame) -> pl.DataFrame:
    """Return goodput statistics of completed flows: a row per flow group and role.

    The table `goodput` has a row per batch of flows. In the result, the `STATISTICS` are means over
    batches, weighted by their numbers of flows. The standard deviation `pooled_deviation_pps`, the
    minimum `least_pps` and the maximum `largest_pps` are over all single flows.
    """
    flows = pl.col("flows")
    weighted = [((pl.col(name) * flows).sum() / flows.sum()).alias(name) for name in STATISTICS]
    mean = (pl.col("mean_pps") * flows).sum() / flows.sum()
    within = (flows - 1) * pl.col("deviation_pps") ** 2
    between = flows * (pl.col("mean_pps") - mean) ** 2
    pooled = ((within + between).sum() / (flows.sum() - 1).clip(1)).sqrt()
    return (
        goodput.group_by(KEYS)
        .agg(
            flows.sum(),
            *weighted,
            pooled.alias("pooled_deviation_pps"),
            pl.col("min_pps").min().alias("least_pps"),
            pl.col("max_pps").max().alias("largest_pps"),
        )
        .sort("group", "role", descending=[False, True])
    )


def of_flows(flows: pl.DataFrame) -> pl.DataFrame:
    """Return a row with exact goodput statistics for each flow group and role.

    `flows` is the log of finished flows. Flows that could not be connected are left out.
    """
    goodput = pl.col("goodput_pps")
    rank = [((pl.len() * percent + 99) // 100).clip(1) - 1 for percent in PERCENTS]
    return (
        flows.filter(goodput.is_not_null() & pl.col("connected_s").is_not_null())
        .group_by(KEYS)
        .agg(
            pl.len().alias("flows"),
            goodput.mean().alias("mean_pps"),
            goodput.std().fill_null(0.0).alias("deviation_pps"),
            goodput.min().alias("min_pps"),
            goodput.max().alias("max_pps"),
            *(
                goodput.sort().get(at).alias(f"p{percent}_pps")
                for percent, at in zip(PERCENTS, rank, strict=True)
            ),
        )
        .sort("group", "role", descending=[False, True])
    )


def shares_of_files(groups: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """Yield each type of file, with the fraction of flows that transferred this type."""
    counts = dict(groups.group_by("file").agg(pl.col("flows").sum()).iter_rows())
    total = sum(counts.values())
    for file in FILES:
        yield file, counts.get(file, 0) / total if total else float("nan")
