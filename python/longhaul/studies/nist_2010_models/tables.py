"""Tables of the models against packet-level simulation, and of the hybrid model, in Markdown.

`python -m longhaul.studies.nist_2010_models.tables [FOLDER]` prints them from recorded results.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from longhaul.models.abilene_lee import BUFFERS, ROUTERS
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.study import find

from . import hybrid, theory

ALGORITHMS = ("cubic", "ctcp", "reno")


def cells(data: Data) -> Iterator[str]:
    """Tables A-1 to A-3: packets, and what the model says more or less than they."""
    for algorithm in ALGORITHMS:
        yield f"\n{algorithm}: packets per ms by packets (the model's difference in per cent)\n"
        yield "| round trip, ms | " + " | ".join(f"B = {b}" for b in theory.BUFFERS) + " |"
        yield "|---|" + "---:|" * len(theory.BUFFERS)
        for rtt in theory.RTTS_MS:
            row = (_cell(data, algorithm, rtt, b) for b in theory.BUFFERS)
            yield f"| {rtt} | " + " | ".join(row) + " |"


def _cell(data: Data, algorithm: str, rtt: int, buffer: int) -> str:
    try:
        found = data.value(
            "throughput_pkts_per_ms", "FL-PKT",
            algorithm=algorithm, rtt_ms=rtt, buffer_pkts=buffer,
        )  # fmt: skip
    except NotRunError:
        return ""
    difference = theory.throughput(algorithm, rtt, buffer) / found - 1.0
    return f"{found:.1f} ({100 * difference:+.0f})"


def sets() -> Iterator[str]:
    """The hybrid model's three sets by buffer."""
    for routers in ROUTERS:
        yield f"\n{routers}\n"
        yield "| buffer | packets/ms: 1 | 2 | 3 | ms: 1 | 2 | 3 | FR(1,3) | RR(3,1) | cuts/flow h |"
        yield "|---|" + "---:|" * 9
        for buffer in BUFFERS:
            one = hybrid.sets(routers, buffer)
            numbers = [f"{rate / 1e3:.1f}" for rate in one.throughput_pps]
            numbers += [f"{1e3 * rtt:.1f}" for rtt in one.rtt_s]
            numbers += [f"{one.throughput_ratio(1, 3):.2f}", f"{one.rtt_ratio(3, 1):.2f}"]
            numbers += [f"{one.reductions_per_flow_h:.1f}"]
            yield f"| {buffer:,} | " + " | ".join(numbers) + " |"


def main() -> None:
    """Print all tables."""
    study = find("nist-2010-models")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else study.recorded / "full"
    print(*cells(Data.read(folder, study)), *sets(), sep="\n")


if __name__ == "__main__":
    main()
