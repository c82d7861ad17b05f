"""Comparison of the kernel's queue disciplines with ours: their decisions on the same packets."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from validation.pages import ROOT

Fates = npt.NDArray[np.uint64]
"""One row per packet: its fate, and the time of the fate in ns.

Fates are 0 for still queued, 1 for sent, 2 for marked and sent, 3 for dropped.
"""

MARKED, DROPPED = 2, 3
LIMIT = 1000


class Case(NamedTuple):
    """A discipline with its settings, as arguments of driver.c, and its title on the page."""

    title: str
    discipline: str
    skipped: int = 0
    """Number of random numbers that our discipline draws before the first packet."""
    options: Mapping[int, int] = {}
    """Values of Netlink attributes that differ from the kernel's defaults, by attribute number.

    The numbers are those of include/uapi/linux/pkt_sched.h.
    """


CASES = {
    "codel": Case("`codel`, variant `linux-6.18`", "codel"),
    "codel-ecn": Case("`codel`, variant `linux-6.18`, ECN", "codel", 0, {4: 1}),
    "codel-rfc": Case("`codel`, variant `rfc8289`", "codel"),
    "pie": Case("`pie`, variant `linux-6.18`", "pie"),
    "pie-ecn": Case("`pie`, variant `linux-6.18`, ECN", "pie", 0, {6: 1}),
    "pie-rfc": Case("`pie`, variant `rfc8033`", "pie"),
    "fq_codel": Case("`fq-codel`, variant `linux-6.18`", "fq_codel", 1, {2: LIMIT, 4: 0}),
    "fq_codel-ecn": Case("`fq-codel`, variant `linux-6.18`, ECN", "fq_codel", 1, {2: LIMIT}),
    "fq_codel-rfc": Case("`fq-codel`, variant `rfc8289`, ECN", "fq_codel", 1, {2: LIMIT}),
    "fq_pie": Case("`fq-pie`, variant `linux-6.18`", "fq_pie", 1, {1: LIMIT}),
    "fq_pie-ecn": Case("`fq-pie`, variant `linux-6.18`, ECN", "fq_pie", 1, {1: LIMIT, 10: 1}),
    # Rate of 10 Mbit/s, best effort, one queue per flow.
    "cake": Case("`cake`", "cake", 1, {2: 1_250_000, 3: 3, 5: 4}),
    "red": Case("`red`", "red"),
    "red-ecn": Case("`red`, ECN", "red", 0, {4: 1}),
    "dualpi2": Case("`dualpi2`, the kernel's weights", "dualpi2", 0, {1: LIMIT}),
    "dualpi2-own": Case("`dualpi2`, Longhaul's weights (0.16 and 3.2)", "dualpi2", 0, {1: LIMIT}),
}


@dataclass(frozen=True)
class Verdict:
    """Outcomes of one pattern of packets under the kernel's discipline and under ours."""

    case: str
    pattern: str
    packets: int
    differ: int
    """Number of packets that the two disciplines treat differently, or at different times."""
    first_s: float
    """Arrival in seconds of the first packet counted by `differ`; NaN if there is none."""
    drops: tuple[int, int]
    """Drops by the kernel's discipline and by ours."""
    marks: tuple[int, int]
    """Marked packets that the kernel's discipline and ours have sent."""
    delays_ms: tuple[float, float]
    """Mean time from arrival to departure in ms, in the kernel's discipline and in ours."""


def ours(folder: Path) -> None:
    """Feed all arrivals in `folder` to our disciplines, and write the outcomes to `folder`.

    A test of the engine does this. It also writes the files `draws` (random numbers) and `hashes`
    (hashes of flows), which the kernel's disciplines use, too.
    """
    test = "queue::oracle::disciplines_decide_about_arrivals_from_files"
    command = ["cargo", "test", "--release", "--locked", "--package", "longhaul-engine", "--lib"]
    subprocess.run(
        [*command, test, "--", "--ignored"],
        cwd=ROOT,
        env={**os.environ, "QUEUES": str(folder)},
        check=True,
    )


def kernels(driver: Path, folder: Path, case: str, pattern: str) -> Fates:
    """Run the kernel's discipline, and return the fate of each packet.

    `driver` is the program with the discipline, `case` a key of `CASES`, and `pattern` the name of
    a file of arrivals in `folder`. `folder` must also have the files that `ours` writes. The fates
    are also written to the file `kernel` in `folder`.
    """
    _, discipline, skipped, options = CASES[case]
    out = folder / "kernel"
    files = [folder / f"{pattern}.arrivals", out, folder / "draws"]
    given = [f"{attribute}={value}" for attribute, value in options.items()]
    parts = [driver, discipline, *files, skipped, folder / "hashes", *given]
    subprocess.run([str(part) for part in parts], check=True)
    return _read(out)


def compare(driver: Path, folder: Path, case: str, pattern: str) -> Verdict:
    """Compare the fate of each packet of `pattern` in the kernel's discipline and in ours.

    The arguments are those of `kernels`.
    """
    arrivals = np.fromfile(folder / f"{pattern}.arrivals", np.uint64).reshape(-1, 4)[:, 0]
    theirs = kernels(driver, folder, case, pattern)
    own = _read(folder / f"{case}.{pattern}.ours")
    differ = (theirs != own).any(axis=1)
    return Verdict(
        case=case,
        pattern=pattern,
        packets=len(arrivals),
        differ=int(differ.sum()),
        first_s=float(arrivals[differ.argmax()]) / 1e9 if differ.any() else float("nan"),
        drops=(_count(theirs, DROPPED), _count(own, DROPPED)),
        marks=(_count(theirs, MARKED), _count(own, MARKED)),
        delays_ms=(_mean_delay_ms(theirs, arrivals), _mean_delay_ms(own, arrivals)),
    )


def _count(fates: Fates, what: int) -> int:
    return int((fates[:, 0] == what).sum())


def _mean_delay_ms(fates: Fates, arrivals: npt.NDArray[np.uint64]) -> float:
    sent = (fates[:, 0] == 1) | (fates[:, 0] == MARKED)
    return float(np.mean(fates[sent, 1] - arrivals[sent])) / 1e6


def _read(file: Path) -> Fates:
    return np.fromfile(file, np.uint64).reshape(-1, 2)
