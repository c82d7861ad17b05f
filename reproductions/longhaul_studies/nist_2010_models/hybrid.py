"""Results of appendix B's hybrid model with eight buffers and two kinds of router.

`python -m longhaul_studies.nist_2010_models.hybrid` simulates eleven hours of all sixteen cases in
some five minutes of processor time, and writes `hybrid.csv`, from which claims are judged.
"""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from longhaul.files.rows import published_rows, write_rows
from longhaul.models import abilene_lee

FILE = Path(__file__).with_name("hybrid.csv")
SEEDS = (1,)

Row = dict[str, float | str]


def follow(case: tuple[str, int, int]) -> Row:
    """Simulate a case (kind of router, buffer, seed), and return its row of `hybrid.csv`."""
    routers, buffer, seed = case
    before = time.process_time()
    sets, _ = abilene_lee.run(buffer, routers=routers, seed=seed)
    took = time.process_time() - before
    row: Row = {"routers": routers, "buffer_pkts": buffer, "seed": seed}
    for number in (1, 2, 3):
        row[f"throughput_{number}_pps"] = round(sets.throughput_pps[number - 1], 1)
        row[f"rtt_{number}_s"] = round(sets.rtt_s[number - 1], 6)
    return row | {
        "utilisation": round(sets.utilisation, 5),
        "reductions_per_flow_h": round(sets.reductions_per_flow_h, 3),
        "processor_s": round(took, 1),
    }


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows of `hybrid.csv`."""
    return tuple(
        {key: value if key == "routers" else float(value) for key, value in row.items()}
        for row in published_rows(FILE)
    )


def row(routers: str, buffer: float) -> Row:
    """Return the row of `hybrid.csv` for these routers, this buffer and the first seed."""
    return next(row for row in rows() if (row["routers"], row["buffer_pkts"]) == (routers, buffer))


def sets(routers: str, buffer: float) -> abilene_lee.Sets:
    """Return the results for these routers and this buffer, as means over seeds."""
    matching = [row for row in rows() if (row["routers"], row["buffer_pkts"]) == (routers, buffer)]

    def mean(name: str) -> float:
        return sum(float(row[name]) for row in matching) / len(matching)

    return abilene_lee.Sets(
        buffer,
        tuple(mean(f"throughput_{number}_pps") for number in (1, 2, 3)),
        tuple(mean(f"rtt_{number}_s") for number in (1, 2, 3)),
        mean("utilisation"),
        mean("reductions_per_flow_h"),
    )


def _record() -> None:
    cases = [
        (routers, buffer, seed)
        for routers in abilene_lee.ROUTERS
        for buffer in abilene_lee.BUFFERS
        for seed in SEEDS
    ]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as workers:
        followed = list(workers.map(follow, cases))
    write_rows(FILE, followed, list(followed[0]))


if __name__ == "__main__":
    _record()
