"""Reader of a recording of the kernel: samples, facts, and measured values."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from validation.linux.cases import SETTLED_S, Case
from validation.linux.figures import period, together

INFINITE = 2**31 - 1
"""ssthresh before the first reduction (`TCP_INFINITE_SSTHRESH`)."""

REDUCING = 2
"""Smallest value of `ca_state` in which Linux reduces the window: 2 is CWR, 3 recovery, 4 loss."""


@dataclass(frozen=True)
class Recording:
    """A recording: samples of the sockets, and facts such as kernel version and lateness."""

    samples: pl.DataFrame
    about: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Recording:
        """Read `recording.json` and `samples.csv` of a recording's directory."""
        about = json.loads((folder / "recording.json").read_text(encoding="utf-8"))
        samples = pl.read_csv(folder / "samples.csv", infer_schema_length=None)
        return cls(samples, about)

    def figures(self, case: Case) -> dict[tuple[str, str], float]:
        """Return the values of `case` by algorithm and name of the quantity; NaN if unknown."""
        each = [
            (flow.algorithm, self._of_flow(case, number)) for number, flow in enumerate(case.flows)
        ]
        of_case = together(each)
        algorithms = {flow.algorithm for flow in case.flows}
        if len(case.flows) > 1 and len(algorithms) == 1:
            # Samples may miss recoveries of many flows. The kernel's counters are used instead.
            counted = self.about["counters"]["senders"]
            reductions = counted.get("TCPSackRecovery", 0) + counted.get("TCPTimeouts", 0)
            of_case[algorithms.pop(), "reductions"] = float(reductions)
        return of_case

    def late_share(self) -> float:
        """Return the fraction of packets that were more than a millisecond late."""
        return float(self.about["lateness"]["share_over_1ms"])

    def timing(self) -> str:
        """Return lateness of packets and load of the machine as text."""
        late, ticks = self.about["lateness"], self.about["ticks"]
        busy = ticks["used"] / max(1, ticks["used"] + ticks["idle"])
        return (
            f"late by {late['mean_us']:.0f} us, at most {late['max_us'] / 1e3:.1f} ms, "
            f"{late['share_over_1ms']:.2%} over 1 ms; machine {busy:.0%} busy"
        )

    def _of_flow(self, case: Case, number: int) -> dict[str, float]:
        flow = case.flows[number]
        samples = self.samples.filter(pl.col("flow") == number)
        cwnd, ssthresh = samples["cwnd"].to_numpy(), samples["ssthresh"].to_numpy()
        of_flow = {"retrans": float(samples["retrans"][-1])}
        known = np.nonzero(ssthresh < INFINITE)[0]
        if flow.algorithm != "bbr" and len(known):
            of_flow["exit_cwnd"] = float(cwnd[max(0, known[0] - 1)])
        if flow.size_bytes is not None:
            completion = self.about["completion_s"][number]
            return of_flow | {"completion": math.nan if completion is None else completion}
        settled = samples.filter(pl.col("t") >= case.duration_s - SETTLED_S)
        times = samples["t"].to_numpy()[_reductions(samples)]
        took = settled["t"][-1] - settled["t"][0]
        acked = settled["bytes_acked"][-1] - settled["bytes_acked"][0]
        return of_flow | {
            "reductions": float(len(times)),
            "period": period(times[times >= case.duration_s - SETTLED_S]),
            "cwnd": float(np.mean(settled["cwnd"].to_numpy())),
            "srtt_ms": float(np.mean(settled["rtt_us"].to_numpy())) / 1e3,
            "goodput": acked * 8 / took / 1e6,
        }


def _reductions(samples: pl.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the indices of the samples in which a window reduction by the kernel first shows.

    In such a sample, `ca_state` is at least `REDUCING`; in the sample before, `ca_state` was lower
    or ssthresh was different.
    """
    state, ssthresh = samples["ca_state"].to_numpy(), samples["ssthresh"].to_numpy()
    began = (state[:-1] < REDUCING) | (ssthresh[1:] != ssthresh[:-1])
    return np.nonzero((state[1:] >= REDUCING) & began)[0] + 1
