"""Speed of Longhaul and of ns-2 with its fastest scheduler: `python -m validation.speed.peers`.

There are four kinds of simulations: cases A3 and A5 of the comparison with ns-2; slow starts of
four flows that overshoot 2.5 Gbit/s; a six-hop dumbbell with access links; web traffic from the
PackMime model. Both simulators share one core, with one process and thread each. The command prints
data packets per second of processor time over all repetitions, and the largest peak memory. Without
`--case` it writes the same values to `bench-peers.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation.ns2.cases import GOLD, Case, gold_cases
from validation.ns2.scenario import scenario
from validation.ns2.simulator import INSTALL, MissingNs2Error
from validation.pages import ROOT
from validation.speed.measure import Run, in_process, one_core, run_ns2, side_by_side

HERE = Path(__file__).parent
RESULT = ROOT / "bench-peers.json"
GOLD_NAMES = (
    "A3_hstcp_droptail",
    "A3_hstcp_red_auto",
    "A5_1_1_dt",
    "A5_1_1_red",
    "A5_2_2_dt",
    "A5_2_2_red",
    "A5_5_5_dt",
    "A5_5_5_red",
)
OVERSHOOT = Case(
    name="overshoot",
    warm_up_s=1,
    arguments=("rate=2.5e9", "delay=0.05", "limit=20833", "T=5", "flow=sack,4,0,0,0,0,1"),
    seeds=(1,),
)
"""Four flows whose slow start overshoots: one in fourteen of 600,000 packets is lost. The rate is
2.5 Gbit/s, because ns-2 would take minutes at 10 Gbit/s."""


@dataclass(frozen=True)
class Contest:
    """One simulation in Longhaul and in ns-2."""

    name: str
    scenario: dict[str, Any]
    ns2: Run


def contests() -> list[Contest]:
    """Return all compared simulations."""
    gold = [_gold(case) for case in gold_cases() if case.name in GOLD_NAMES]
    return [*gold, _gold(OVERSHOOT), six_hops(), packmime()]


def _gold(case: Case) -> Contest:
    # Without events, which are not among the default measurements.
    plain = scenario(case, 1) | {"measure": {"from": f"{case.warm_up_s} s", "every": "100 ms"}}
    return Contest(
        case.name, plain, lambda: run_ns2(GOLD / "gold.tcl", ["seed=1", *case.arguments])
    )


def six_hops() -> Contest:
    """Return the simulation of ten HSTCP flows over six hops, for Longhaul and for ns-2."""
    scenario = tomllib.loads((HERE / "six_hops.toml").read_text())
    return Contest("six_hops", scenario, lambda: run_ns2(HERE / "six_hops.tcl", ["seed=1"]))


def packmime() -> Contest:
    """Return the simulation of web traffic in both directions, for Longhaul and for ns-2."""
    file = ROOT / "python" / "longhaul" / "scenarios" / "packmime.toml"
    scenario = tomllib.loads(file.read_text()) | {
        "duration": "60 s",
        "measure": {"from": "1 s", "every": "1 s"},
    }
    for group in scenario["flows"]:
        group["recovery"] = "newreno"
    return Contest("packmime", scenario, lambda: run_ns2(HERE / "packmime.tcl", ["seed=1"]))


def main() -> int:
    """Measure all simulations in several rounds, print the speeds and write the file.

    Return 1 if ns-2 is missing, else 0.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each case (default: 3)")
    parser.add_argument("--case", action="append", help="only this case (repeatable)")
    arguments = parser.parse_args()
    chosen = [
        contest
        for contest in contests()
        if arguments.case is None or contest.name in arguments.case
    ]
    print(
        f"{'case':20} {'Longhaul pkt/s':>15} {'ns-2 pkt/s':>12} "
        f"{'ratio':>6} {'Longhaul MiB':>12} {'ns-2 MiB':>8}"
    )
    try:
        rows = [race(contest, arguments.rounds) for contest in chosen]
    except MissingNs2Error:
        print(INSTALL, file=sys.stderr)
        return 1
    if arguments.case is None:
        RESULT.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def race(contest: Contest, rounds: int) -> dict[str, Any]:
    """Run both simulators on one core; print and return packets per second, ratio and memory."""
    with one_core(), in_process(contest.scenario) as longhaul:
        ours, peer = side_by_side([longhaul, contest.ns2], rounds)
    row = {
        "case": contest.name,
        "longhaul_pkts_per_s": round(ours.pkts_per_s),
        "peer": "ns-2 2.35, calendar queue",
        "peer_pkts_per_s": round(peer.pkts_per_s),
        "ratio": round(ours.pkts_per_s / peer.pkts_per_s, 2),
        "longhaul_peak_mb": round(ours.peak_mb, 1),
        "peer_peak_mb": round(peer.peak_mb, 1),
        "rounds": rounds,
    }
    print(
        f"{contest.name:20} {ours.pkts_per_s:15,.0f} {peer.pkts_per_s:12,.0f} "
        f"{row['ratio']:6} {row['longhaul_peak_mb']:12} {row['peer_peak_mb']:8}",
        flush=True,
    )
    return row


if __name__ == "__main__":
    sys.exit(main())
