"""Measures for claims on transfers without losses."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from longhaul.files.rows import Row, published_rows
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.measures import Measures

from .acknowledgements import MEAN_SIZES

MEASURES = Measures()
measure = MEASURES.register

# Fraction of a backbone router's receivers that are below its direct access router, in chapters 8
# and 9; a source chooses a backbone router first (NIST SP 500-282, chapter 3).
SHARES = {
    "B": 480 / 12_480, "C": 480 / 20_640, "E": 480 / 12_480,
    "F": 480 / 20_640, "I": 480 / 20_640, "K": 480 / 4320,
}  # fmt: skip
LARGE = ("movie", "service_pack", "document")


def published() -> tuple[Row, ...]:
    """Return the mean goodput of files as computed from window rules and as printed.

    There is a row for each combination of experiment, model of an algorithm, kind of file and speed
    of hosts.
    """
    return published_rows(Path(__file__).parent / "published" / "files.csv")


@cache
def paths() -> list[tuple[int, float]]:
    """Return the round-trip time (ms) and weight of each path, for both levels of delay."""
    file = Path(__file__).parent / "conditions" / "direct_paths.csv"
    return [
        (int(row["rtt"]), SHARES[row["from"][0]] + SHARES[row["to"][0]])
        for row in published_rows(file)
    ]


@measure
def file_goodput(data: Data, of: str, file: str, interface: str, **cell: str) -> float:
    """Return the mean goodput of files over paths and sizes, in packets per second.

    `file` is the kind of file, `interface` the speed of its hosts. One run stands for all paths
    with its round-trip time.
    """
    means = {
        row["rtt"]: sum(row[f"{file}_{mean}"] for mean in MEAN_SIZES) / len(MEAN_SIZES)
        for row in data.cells(of, interface=interface, **cell).to_dicts()
    }
    if missing := {rtt for rtt, _ in paths()} - set(means):
        raise NotRunError(f"{of} was not run at round trips of {missing} ms")
    total = sum(weight * means[rtt] for rtt, weight in paths())
    return float(total / sum(weight for _, weight in paths()))


def _against(
    data: Data, of: str, model: str, column: str, cell: Mapping[str, str], files: Sequence[str]
) -> list[float]:
    """Return ratios of measured to reference goodputs, per kind of file and speed of hosts.

    References are in `column` of `published`, in rows with `model`. `cell` selects measured runs.
    """
    return [
        file_goodput(data, of, row["file"], row["interface"], **cell) / float(row[column])
        for row in published()
        if (row["experiment"], row["model"]) == (of, model) and row["file"] in files
    ]


@measure
def off_model(data: Data, of: str, model: str = "", **cell: str) -> float:
    """Return the largest relative difference between measured and computed mean file goodputs."""
    ratios = _against(data, of, model, "mean", cell, (*LARGE, "web"))
    return max(abs(ratio - 1) for ratio in ratios)


@measure
def shortfall(data: Data, of: str, interface: str, algorithms: str, end: str) -> float:
    """Return the fraction by which the study's printed goodput is below our loss-free goodput.

    There is a fraction for each of `algorithms` and each kind of large file; `end` selects the
    smallest (`least`) or the largest (`most`).
    """
    shortfalls = [
        1 - float(row["published"]) / file_goodput(
            data, of, row["file"], interface, algorithm=algorithm
        )
        for algorithm in algorithms.split(",")
        for row in published()
        if (row["experiment"], row["model"], row["interface"]) == (of, algorithm, interface)
        and row["file"] in LARGE
    ]  # fmt: skip
    return {"least": min, "most": max}[end](shortfalls)


@measure
def least_file_step(data: Data, of: str, file: str, interface: str, order: str) -> float:
    """Return the smallest ratio of an algorithm's goodput to that of its successor in `order`."""
    goodputs = [
        file_goodput(data, of, file, interface, algorithm=algorithm)
        for algorithm in order.split(",")
    ]
    return min(first / other for first, other in pairwise(goodputs))
