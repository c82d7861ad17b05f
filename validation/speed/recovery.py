"""Cost of a packet in loss recovery: `python -m validation.speed.recovery`.

A window has 200 to 20 million segments. Every other segment is lost, which leaves 100 to 10 million
holes. Recovery is by SACK (RFC 6675) or RACK-TLP (RFC 8985). In further runs every other
retransmission is lost as well; SACK then needs the retransmission timer. The command prints the
processor time per data packet sent from this window on, with and without losses. Without `--holes`
it writes the plot docs/images/speed-recovery.svg.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from validation.experiments import dumbbell
from validation.pages import DOCS, table
from validation.speed.measure import in_turn, on_one_core

HOLES = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
RECOVERIES = ("sack", "rack-tlp")
PICTURE = DOCS / "images" / "speed-recovery.svg"

RTT_S = 0.4
MSS_B = 1460
PACKET_B = 1500
MAX_INITIAL_WINDOW = 1_000_000
ALTERNATE = {"gilbert_elliott": {"p": 1, "r": 1, "good_loss": 0, "bad_loss": 1}}
"""Loss of every other packet."""

ROUNDS_LOST = {"none": 0, "once": 1, "again": 2}
"""Number of round trips in which every other packet is lost; the first has the full window, the
second has the retransmissions."""


LOSSES = {"none": "no losses", "once": "every other lost", "again": "retransmissions, too"}


@dataclass(frozen=True)
class Case:
    """One measurement of successive transfers of equal size.

    The last `window` segments of a transfer are sent as one window, in which every other segment is
    lost unless `lost` is `none`.
    """

    holes: int
    recovery: str
    lost: str

    @property
    def window(self) -> int:
        """Window of each transfer in segments: twice the number of holes."""
        return 2 * self.holes

    @property
    def transfers(self) -> int:
        """Number of transfers: as many as send about 2 million packets, at most 1,000."""
        return min(1_000, max(1, 2_000_000 // self.window))

    @property
    def doublings(self) -> int:
        """Number of round trips of slow start before the window is full.

        It is 0 for windows up to the maximum initial window.
        """
        return ((self.window - 1) // MAX_INITIAL_WINDOW).bit_length()

    @property
    def segments_before(self) -> int:
        """Segments that slow start sends before the window reaches `window`; at least one."""
        return max(1, MAX_INITIAL_WINDOW * ((1 << self.doublings) - 1))

    def scenario(self, segments: int) -> dict[str, Any]:
        """Return the scenario of transfers of `segments` segments each.

        The link sends a full window in a quarter of a round trip, and is then idle until the next
        round trip. Losses are switched on and off while it is idle.
        """
        spacing = 40 * RTT_S
        changes: list[dict[str, Any]] = []
        starts = [spacing * transfer for transfer in range(self.transfers)]
        for start in starts if ROUNDS_LOST[self.lost] else ():
            begin = start + (1 + self.doublings) * RTT_S
            end = begin + ROUNDS_LOST[self.lost] * RTT_S
            changes.append({"at": f"{begin - RTT_S / 4} s", "loss": ALTERNATE})
            changes.append({"at": f"{end - RTT_S / 4} s", "loss": 0})
        # A link with changes takes more processor time, so the link has a change in all runs.
        end = spacing * self.transfers
        changes.append({"at": f"{end} s", "loss": 0})
        return {
            "title": f"{self.transfers} windows of {self.window} segments",
            "profile": "rfc",
            "duration": f"{end} s",
            "measure": {"from": "0 s", "every": f"{end} s"},
            "topology": dumbbell(
                f"{round(4 * self.window * PACKET_B * 8 / RTT_S)} bps",
                f"{RTT_S / 2} s",
                f"{2 * self.window} packets",
                changes=changes,
            ),
            "flows": [
                {
                    "label": "transfer",
                    "count": self.transfers,
                    "start": [f"{start} s" for start in starts],
                    "transfer": f"{segments * MSS_B} B",
                    "recovery": self.recovery,
                    "congestion": {"kind": "reno"},
                    "tcp": {
                        "receive_window": self.window,
                        "initial_window": min(self.window, MAX_INITIAL_WINDOW),
                    },
                }
            ],
        }


def ns_per_packet(case: Case, rounds: int) -> float:
    """Return the processor time in ns per data packet, without the packets of slow start.

    The cost of transfers that end when the window is full is subtracted from that of transfers that
    continue. Both are run alternately `rounds` times, and the cheapest run of each counts.
    """
    before = case.segments_before
    scenarios = [case.scenario(before), case.scenario(before + case.window)]
    short, full = on_one_core(scenarios, rounds, in_turn)
    return 1e9 * (full.cpu_s - short.cpu_s) / (full.packets - short.packets)


def draw(costs: dict[tuple[str, str], list[float]], holes: Sequence[int], path: Path) -> None:
    """Plot the costs in ns per packet over the number of lost segments (holes) to `path`."""
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = figure.subplots()
    for (recovery, lost), values in costs.items():
        colour = "#c0392b" if recovery == "sack" else "#2471a3"
        style = {"none": ":", "once": "-", "again": "--"}[lost]
        label = f"{recovery}: {LOSSES[lost]}"
        axes.plot(holes, values, style, color=colour, marker="o", ms=3, label=label)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("holes in the window")
    axes.set_ylabel("ns of processor time per packet")
    axes.legend(frameon=False, ncols=2)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure all cases, print the costs and draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--holes", type=int, action="append", help="number of holes (repeatable)")
    arguments = parser.parse_args()
    holes = arguments.holes or HOLES
    costs: dict[tuple[str, str], list[float]] = {
        (recovery, lost): [] for recovery in RECOVERIES for lost in ROUNDS_LOST
    }
    print(*table(["holes:", *(f"{recovery}, {lost}:" for recovery, lost in costs)], ()), sep="\n")
    for count in holes:
        for (recovery, lost), values in costs.items():
            values.append(ns_per_packet(Case(count, recovery, lost), arguments.rounds))
        row = " | ".join(f"{values[-1]:.0f}" for values in costs.values())
        print(f"| {count:,} | {row} |", flush=True)
    if arguments.holes is None:
        draw(costs, holes, PICTURE)


if __name__ == "__main__":
    main()
