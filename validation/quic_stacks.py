"""Comparison of QUIC stacks with TCP over long fat paths: `python -m validation.quic_stacks`.

Writes docs/quic-stacks.md. If arguments name tables of this page, such as `fast`, only these tables
are simulated and replaced. Finished runs are kept in validation/out/quic_stacks, so a stopped
comparison can be resumed. Stacks that this build lacks are left out; a build with
`make build FEATURES=noq` has all stacks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

from longhaul._engine import ScenarioError
from longhaul.analysis.comparisons import half_width
from longhaul.evaluation import stacks
from longhaul.results import Results
from longhaul.running.execution import run_loaded
from longhaul.running.loading import load
from validation.experiments import Bottleneck, dumbbell, in_parallel
from validation.pages import DOCS, filled, table

TEXT = Path(__file__).with_suffix(".md")
DOCUMENT = DOCS / "quic-stacks.md"
# Directory of runs, named by the hash of the scenario and of the versions of engine and stacks.
RUNS = Path(__file__).parent / "out" / "quic_stacks"

Flow = dict[str, Any]


def tcp(kind: str) -> Flow:
    """Return the scenario keys of a TCP flow with Longhaul's congestion control `kind`."""
    return {"congestion": {"kind": kind}}


STACKS = [
    ("quinn", "cubic"), ("quinn", "newreno"), ("quinn", "bbr"),
    ("noq", "cubic"), ("noq", "newreno"), ("noq", "bbr3"),
]  # fmt: skip
OWN = ("cubic", "reno", "bbr", "bbr3")


def contenders() -> dict[str, Flow]:
    """Return the compared flows by name: flows of the QUIC stacks in this build, and TCP flows."""
    found: dict[str, Flow] = {}
    for stack, name in STACKS:
        # This build may lack the stack, or the stack may lack the congestion control.
        with suppress(ScenarioError):
            settings = stacks.table(f"{stack}:{name}") or {}
            found[f"{stack} {name}"] = {"protocol": "quic", **settings}
    return found | {f"TCP `{kind}`": tcp(kind) for kind in OWN}


@dataclass(frozen=True)
class Outcome:
    """Results of the first flow in the measurement window, and the other flows' total goodput."""

    goodput_mbps: float
    utilisation: float
    """Goodput of the first flow as a fraction of the link's rate."""
    rtt_ms: float
    """Mean round-trip time of the first flow; 0 if it is not known."""
    lost: float
    """Fraction of the first flow's sent packets that were dropped."""
    others_mbps: float
    completion_s: float | None
    """Time from start to end of the first flow's transfer; None if the transfer does not end."""


def run(
    link: Mapping[str, Any], flows: Sequence[Flow], seconds: float, measured_s: float, seed: int = 1
) -> Outcome:
    """Simulate `flows` on `link` for `seconds`, and measure the first flow from `measured_s` on.

    `link` has the arguments of `dumbbell`. Of the other flows only the total goodput is returned.
    The run is kept in `RUNS`; if it is in `RUNS` already, it is not simulated again.
    """
    scenario = load(
        {
            "seed": seed,
            "duration": f"{seconds} s",
            "measure": {"from": f"{measured_s} s", "every": "1 s"},
            "topology": dumbbell(**link),
            "flows": [{"label": f"f{index}", **flow} for index, flow in enumerate(flows)],
        }
    )
    path = RUNS / scenario.hash
    results = Results(path) if path.is_dir() else run_loaded(scenario, out=path)
    first = results.flows.row(0, named=True)
    others = float(results.flows.filter(pl.col("flow") > 0)["goodput_bps"].sum())
    return Outcome(
        first["goodput_bps"] / 1e6,
        first["goodput_bps"] / results.links["rate_bps"][0],
        (first["rtt_mean_s"] or 0.0) * 1e3,
        first["dropped_pkts"] / max(first["sent_pkts"], 1),
        others / 1e6,
        first["completion_s"],
    )


# Arguments of `run`.
Job = tuple[Any, ...]


def compared(
    names: Mapping[str, Flow],
    titles: Sequence[str],
    jobs: Callable[[Flow], Sequence[Job]],
    cell: Callable[..., str],
    seeds: int = 1,
) -> list[str]:
    """Return the lines of a table with a row for each flow in `names`, and a column for each title.

    Every cell has `seeds` runs. `jobs` returns the arguments of the function `run` for all runs of
    a row, cell by cell. `cell` returns the text of a cell from the outcomes of its runs.
    """
    found = iter(in_parallel(run, [job for flow in names.values() for job in jobs(flow)]))
    rows = ([name, *(cell(*(next(found) for _ in range(seeds))) for _ in titles)] for name in names)
    return table(["flow", *titles], rows)


PATHS = ((10, 40), (100, 100), (20, 600))
BUFFERS = (0.25, 1.0, 4.0)


def alone() -> list[str]:
    """Return the table of runs with a single flow, for every path and every buffer size."""
    return _single({
        Bottleneck(*path, buffer): _times(Bottleneck(*path))
        for path in PATHS
        for buffer in BUFFERS
    })  # fmt: skip


# Duration and start of the measurement (s) at 1 Gbit/s, by path. The runs are short because noq's
# BBR v3 takes some 30 us of processor time per packet at this rate.
FAST = {Bottleneck(1000, 20): (15.0, 5.0), Bottleneck(1000, 100): (30.0, 20.0)}


def fast() -> list[str]:
    """Return the table of runs with a single flow on each path of 1 Gbit/s."""
    return _single(FAST)


def _single(times: Mapping[Bottleneck, tuple[float, float]]) -> list[str]:
    """Return the table of one flow on each path of `times`.

    `times` has the duration of the run and the start of the measurement in seconds.
    """
    return compared(
        contenders(),
        [f"{path.name}, {path.buffer_bdp:g} BDP" for path in times],
        lambda flow: [(path.link(), [flow], *window) for path, window in times.items()],
        lambda run: f"{run.utilisation:.0%}; {run.rtt_ms:.0f}; {run.lost:.2%}",
    )


def _times(path: Bottleneck) -> tuple[float, float]:
    """Return the duration of a run and the start of the measurement, in seconds.

    The measurement begins after a hundred round trips, but not before 10 s, and lasts 50 s.
    """
    begin = max(10.0, path.rtt_ms / 10)
    return begin + 50.0, begin


def impaired() -> list[str]:
    """Return the table of runs with a single flow on impaired paths of 10 Mbit/s and 40 ms.

    The paths have random losses, ECN marks, a deep buffer, or a deep buffer and a falling rate.
    """
    path = Bottleneck(10, 40)
    codel = {"kind": "codel", "limit": "1000 packets", "ecn": True}
    falls = [{"at": "30 s", "rate": "2 Mbps"}]
    deep = Bottleneck(10, 40, 8)
    links = {
        "1 % of the packets lost": path.link(loss={"bernoulli": 0.01}),
        "CoDel with ECN": path.link(queue=codel),
        "8 BDP": deep.link(),
        "8 BDP, 2 Mbit/s from 30 s on": deep.link(changes=falls),
    }
    return compared(
        contenders(),
        list(links),
        lambda flow: [(link, [flow], 60.0, 40.0) for link in links.values()],
        lambda run: f"{run.goodput_mbps:.1f}; {run.rtt_ms:.0f}; {run.lost:.2%}",
    )


SEEDS = range(1, 9)


def beside() -> list[str]:
    """Return the table of flows, QUIC or TCP, that compete with a TCP CUBIC flow.

    The table has each flow's share of the total goodput (mean over seeds, and half the width of its
    95 % interval), and the fraction of the flow's packets that are lost. The path has 10 Mbit/s and
    an RTT of 40 ms.
    """
    paths = [Bottleneck(10, 40, buffer) for buffer in (0.5, 1.0, 4.0)]
    names = contenders() | {
        "Longhaul's `cubic` in quinn": {"protocol": "quic", **tcp("cubic")},
        "TCP `cubic`, paced": {**tcp("cubic"), "tcp": {"pacing": True}},
    }
    start = {"start": {"uniform": ["0 s", "5 s"]}}

    def jobs(flow: Flow) -> list[Job]:
        flows = [{**flow, **start}, {**tcp("cubic"), **start}]
        return [(path.link(), flows, 120.0, 30.0, seed) for path in paths for seed in SEEDS]

    def share(*runs: Outcome) -> str:
        shares = [100 * run.goodput_mbps / (run.goodput_mbps + run.others_mbps) for run in runs]
        half = half_width(shares) or 0.0
        return f"{fmean(shares):.0f} ± {half:.0f}; {fmean(run.lost for run in runs):.2%}"

    return compared(names, [f"{p.buffer_bdp:g} BDP" for p in paths], jobs, share, len(SEEDS))


def transfers() -> list[str]:
    """Return the table of completion times and losses of a transfer of 5 MB, on every path."""
    paths = [Bottleneck(*path) for path in PATHS]

    def completion(run: Outcome) -> str:
        return f"{run.completion_s:.2f}; {run.lost:.1%}" if run.completion_s else "none"

    return compared(
        contenders(),
        [path.name for path in paths],
        lambda flow: [(path.link(), [{**flow, "transfer": "5 MB"}], 60.0, 0.0) for path in paths],
        completion,
    )


TABLES = {
    "alone": alone, "fast": fast, "impaired": impaired, "beside": beside, "transfers": transfers,
}  # fmt: skip


def standing(name: str) -> list[str]:
    """Return the lines of the table `name` in the page as it was last written."""
    text = TEXT.read_text(encoding="utf-8")
    (section,) = (part for part in text.split("\n## ") if "{{" + name + "}}" in part)
    heading = section.partition("\n")[0]
    written = DOCUMENT.read_text(encoding="utf-8").split("\n## ")
    (section,) = (part for part in written if part.startswith(heading + "\n"))
    return [line for line in section.splitlines() if line.startswith("|")]


def page(anew: Sequence[str]) -> str:
    """Return the text of the page, with the tables `anew` simulated and the others kept."""
    lines = {name: make() if name in anew else standing(name) for name, make in TABLES.items()}
    return filled(TEXT, **lines)


def main() -> None:
    """Simulate the tables that the command line names, or all, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "tables", nargs="*", help=f"tables to simulate (default: all): {', '.join(TABLES)}"
    )
    anew = parser.parse_args().tables or list(TABLES)
    if unknown := set(anew) - set(TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    DOCUMENT.write_text(page(anew), encoding="utf-8")


if __name__ == "__main__":
    main()
