"""Tables of the README, written by `longhaul study tables nist-2010-models`."""

from collections.abc import Iterator

from longhaul.models.abilene_lee import BUFFERS
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.numbers import Table

from . import hybrid, theory

NAMES = {"cubic": "CUBIC", "ctcp": "CTCP", "reno": "Reno"}


def cells(data: Data) -> Iterator[str]:
    """Yield the rows of tables A-1 to A-3: throughput of simulations, and the model's deviation."""
    for algorithm, name in NAMES.items():
        yield (
            f"\n{name}: simulated throughput in packets per ms by buffer in packets"
            " (the model's difference in per cent)\n"
        )
        yield "| round trip (ms) | " + " | ".join(f"buffer of {b}" for b in theory.BUFFERS) + " |"
        yield "|---|" + "---:|" * len(theory.BUFFERS)
        for rtt in theory.RTTS_MS:
            row = (_cell(data, algorithm, rtt, b) for b in theory.BUFFERS)
            yield f"| {rtt} | " + " | ".join(row) + " |"
    yield ""


def _cell(data: Data, algorithm: str, rtt: int, buffer: int) -> str:
    try:
        throughput = data.value(
            "throughput_pkts_per_ms", "FL-PKT",
            algorithm=algorithm, rtt_ms=rtt, buffer_pkts=buffer,
        )  # fmt: skip
    except NotRunError:
        return ""
    difference = theory.throughput(algorithm, rtt, buffer) / throughput - 1.0
    return f"{throughput:.1f} ({100 * difference:+.0f})"


def sets(routers: str) -> Iterator[str]:
    """Yield a table of the hybrid model's results for three sets of flows, a row per buffer."""
    yield ""
    yield (
        "| buffer | throughput of set 1 | of set 2 | of set 3"
        " | round trip of set 1 | of set 2 | of set 3 | FR(1,3) | RR(3,1) | reductions |"
    )
    yield "|---|" + "---:|" * 9
    for buffer in BUFFERS:
        case = hybrid.sets(routers, buffer)
        numbers = [f"{rate / 1e3:.1f}" for rate in case.throughput_pps]
        numbers += [f"{1e3 * rtt:.1f}" for rtt in case.rtt_s]
        numbers += [f"{case.throughput_ratio(1, 3):.2f}", f"{case.rtt_ratio(3, 1):.2f}"]
        numbers += [f"{case.reductions_per_flow_h:.1f}"]
        yield f"| {buffer:,} | " + " | ".join(numbers) + " |"
    yield ""


TABLES: dict[str, Table] = {
    "cells": cells,
    "shared": lambda data: sets("shared"),
    "per-link": lambda data: sets("per-link"),
}
