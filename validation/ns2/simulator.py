"""Execution of ns-2 for a case, and the reader of its output.

ns-2 uses its fastest scheduler, the calendar queue. The heap scheduler gives the same output.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from validation.ns2.cases import GOLD, Case
from validation.ns2.runs import FlowFigures, LinkFigures, Run, Trace
from validation.ns2.sawtooth import measure

INSTALL = "ns-2 is missing: install the Debian package ns2 (apt install ns2)"

Columns = dict[str, list[float]]


class MissingNs2Error(RuntimeError):
    """Error that is raised if ns-2 is not installed."""


def command(script: Path, arguments: list[str]) -> list[str]:
    """Return the command line that runs `script` in ns-2.

    Raises `MissingNs2Error` if ns-2 is not installed.
    """
    program = shutil.which("ns") or shutil.which("ns2")
    if program is None:
        raise MissingNs2Error(INSTALL)
    return [program, str(script), "sched=Calendar", *arguments]


def run(case: Case, seed: int) -> Run:
    """Run ns-2 for a case with one seed, and return the measured values and samples."""
    with TemporaryDirectory(prefix="ns2-") as scratch:
        out = Path(scratch) / "run"
        arguments = [f"out={out}", f"seed={seed}", *case.arguments]
        subprocess.run(
            command(GOLD / "gold.tcl", arguments), check=True, capture_output=True, cwd=scratch
        )
        return read(case, seed, out)


def read(case: Case, seed: int, out: Path) -> Run:
    """Return ns-2's run from the files that gold.tcl wrote; `out` is the prefix of their names."""
    records = _records(out.with_suffix(".kv"))
    columns = _columns(out.with_suffix(".csv"))
    start = _index_at(columns["t"], case.warm_up_s)
    changes = _changes(out.with_suffix(".ev"))
    flows = [
        _flow(case, int(name), record, columns, start, changes)
        for kind, name, record in records
        if kind == "flow"
    ]
    link = next(record for kind, name, record in records if kind == "link" and name == "0")
    windows = [columns[f"cwnd{index}"] for index in range(len(flows))]
    trace = Trace(columns["t"], windows, columns["q0"])
    return Run(seed, flows, _link(link, columns, start), trace)


def _flow(
    case: Case,
    index: int,
    record: dict[str, str],
    columns: Columns,
    start: int,
    changes: dict[tuple[int, str], list[float]],
) -> FlowFigures:
    cwnd = columns[f"cwnd{index}"]
    cut_times_s = changes[index, "ncwndcuts_"]
    acked = columns[f"ack{index}"]
    span_s = columns["t"][-1] - columns["t"][start]
    payload_bits = 8.0 * float(record["pktsize"])
    return FlowFigures(
        kind=record["type"],
        start_s=float(record["start"]),
        sent_pkts=int(record["sent"]) - 1,
        retransmitted_pkts=int(record["rexmit"]),
        delivered_pkts=max(int(record["ack"]), 0),
        cuts=int(record["cuts"]),
        ecn_cuts=int(record["ecn"]),
        timeouts=int(record["timeouts"]),
        cut_times_s=cut_times_s,
        timeout_times_s=changes[index, "nrexmit_"],
        goodput_window_bps=(acked[-1] - max(acked[start], 0.0)) * payload_bits / span_s,
        cwnd_mean_window=sum(cwnd[start:]) / len(cwnd[start:]),
        cwnd_max=max(cwnd),
        sawtooth=measure(case, columns["t"], cwnd, cut_times_s),
    )


def _link(record: dict[str, str], columns: Columns, start: int) -> LinkFigures:
    span_s = columns["t"][-1] - columns["t"][start]
    departed = _unwrapped(columns["depB0"])
    waiting = columns["qint0"]
    return LinkFigures(
        utilisation_window=8.0
        * (departed[-1] - departed[start])
        / (float(record["rate"]) * span_s),
        queue_mean_window_pkts=(waiting[-1] - waiting[start]) / span_s,
        dropped_pkts=int(record["drops"]),
        marked_pkts=int(record["marks"]),
    )


def _records(path: Path) -> list[tuple[str, str, dict[str, str]]]:
    """Return the kind, name and values of each line `kind name key value key value ...`."""
    records = []
    for line in path.read_text().splitlines():
        kind, name, *rest = line.split()
        records.append((kind, name, dict(zip(rest[::2], rest[1::2], strict=False))))
    return records


def _columns(path: Path) -> Columns:
    columns: Columns = (
        pl.read_csv(path, infer_schema=False).cast(pl.Float64).to_dict(as_series=False)
    )
    return columns


def _changes(path: Path) -> dict[tuple[int, str], list[float]]:
    """Return the times at which ns-2's counters rose, by index of the flow and name of the counter.

    The file `path` identifies a flow by addresses and ports. Flows are numbered in the order of
    their first lines, which is the order of their creation.
    """
    flows: dict[tuple[str, ...], int] = {}
    changes: dict[tuple[int, str], list[float]] = defaultdict(list)
    for line in path.read_text().splitlines():
        time, *agent, name, value = re.split(r"\s+", line.strip())
        flow = flows.setdefault(tuple(agent), len(flows))
        if int(value) > 0:
            changes[flow, name].append(float(time))
    return changes


def _unwrapped(counter: list[float]) -> list[float]:
    """Return a 32-bit byte counter of ns-2 without its overflows."""
    offset, previous, result = 0.0, 0.0, []
    for value in counter:
        if value < previous - 2**31:
            offset += 2**32
        previous = value
        result.append(value + offset)
    return result


def _index_at(times: list[float], wanted: float) -> int:
    return min(range(len(times)), key=lambda index: abs(times[index] - wanted))
