"""The study's metrics of one run: values of the whole run, and values of its periods.

Names of the latter end in the period, such as `active_flows_TP1`. Most are means over intervals;
`failed_flows_TP1` and `DD_completed_TP1`, for example, are sums. Responses have the numbers of
their chapter: `y8_TP1` for a period, `T.y8` for the whole run. For long-lived flow L1, `L1_pps_TP1`
is the throughput, and `L1_full_s_TP1` the time from the beginning of the period until the flow has
the rate of its interface, or the length of the period if it never has. For flow class DD,
`DD_pps_TP1` is the mean throughput of a flow, and `DD_out_TP1` the throughput of all flows.
"""

from collections.abc import Mapping
from typing import Any

from longhaul.campaign import Run
from longhaul.campaign.store import Kept
from longhaul.mesonet.meanings import WHOLE, meaning

from .mixed import metrics as mixed

Row = dict[str, Any]

OF_THE_RUN = ("delivered_pkts", "events", "peak_memory_bytes")
OF_PERIODS = (
    "active_flows", "connecting_flows", "initial_slow_start_flows", "normal_mode_flows",
    "above_threshold_flows", "completed_per_s", "failed_flows", "out_pps", "loss_rate",
    "retransmission_rate", "srtt_mean_s", "cwnd_mean_pkts",
)  # fmt: skip

# Chapter of an experiment's response numbers; chapter 7 uses those of chapter 6.
NUMBERED = {"SA64": 4, "SB64": 4, "N6-MAIN": 6, "N6-CUT": 6, "N7-MAIN": 6, "N7-CUT": 6}

# Names of metrics by column.
OF_FLOWS = {"pps": "throughput_pps", "full_s": "full_rate_s"}
OF_CLASSES = {
    "pps": "throughput_pps", "out": "out_pps", "active": "active_flows",
    "completed": "completed_flows",
}  # fmt: skip
# Tables of chapters 6 and 7 over time: long-lived flows, and windows of flow classes.
OF_COURSES = {
    name: name
    for name in ("cwnd_crossings", "cwnd_kept", "pps_min", "pps_max", "alpha_min", "alpha_end")
}
OF_CLASS_WINDOWS = {"cwnd_max": "cwnd_max"}


def about(name: str, experiment: str) -> tuple[str, str, str] | None:
    """Return the meaning, unit and heading of metric `name`; None for unknown metrics."""
    found = meaning(name)
    if found is None:
        return None
    period = found.period or WHOLE
    text = f"{found.what}: {found.more}" if found.more else found.what
    return f"{period}: {text}", found.unit, period


def metrics(kept: Kept, run: Run) -> Row:
    """Return the metrics of one run from its stored results."""
    totals = kept["totals"]
    row: Row = {
        f"{name}_flows": sum(of_class[f"{name}_flows"] for of_class in totals)
        for name in ("connected", "completed", "failed")
    }
    for period in kept["network"]:
        row |= {f"{name}_{period['period']}": period[name] for name in OF_PERIODS}
    row |= _of_each(kept["classes"], "class", OF_CLASSES)
    row |= _of_each(kept["long_lived"], "flow", OF_FLOWS)
    row |= _of_each(kept.get("courses", []), "flow", OF_COURSES)
    row |= _of_each(kept.get("class_windows", []), "class", OF_CLASS_WINDOWS)
    row |= {
        f"abated_s_{period['period']}": period["abated_s"] for period in kept.get("congestion", [])
    }
    row |= mixed.of_groups(kept, run.experiment) | kept.get("loss_free", {})
    if chapter := NUMBERED.get(run.experiment):
        row |= {
            _name(response): response["value"]
            for response in kept["responses"]
            if response["chapter"] == chapter
        }
    return row | {name: kept["run"][name] for name in OF_THE_RUN}


def _name(response: Mapping[str, Any]) -> str:
    name, period = response["response"], response["period"]
    return name if name.startswith("T.") else f"{name}_{period}"


def _of_each(rows: list[Mapping[str, Any]], key: str, names: Mapping[str, str]) -> Row:
    return {
        f"{row[key]}_{short}_{row['period']}": row[name]
        for row in rows
        for short, name in names.items()
        if name in row
    }
